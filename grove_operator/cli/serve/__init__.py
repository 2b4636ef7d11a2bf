"""`grove serve`: a page that shows what sets are and how far they have come, as it changes."""
