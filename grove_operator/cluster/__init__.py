"""What joins the compiler and the applier: inputs become objects that should exist, and live objects become snapshots and trees."""
