"""What joins the compiler and the applier."""
