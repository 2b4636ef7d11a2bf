"""What the operator shows of itself."""
