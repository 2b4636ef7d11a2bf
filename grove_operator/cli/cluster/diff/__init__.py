"""`grove diff`: what an apply would change, shown here or by a program of the user's."""
