"""`grove rules`: which rules there are, and whether those of one's own are right."""
