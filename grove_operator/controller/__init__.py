"""What joins the compiler's step and the applier's loop in a cluster."""
