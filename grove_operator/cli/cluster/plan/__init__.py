"""`grove plan`: what an apply would do, as a table."""
