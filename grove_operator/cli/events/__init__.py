"""`grove events`: what the operator has told."""
