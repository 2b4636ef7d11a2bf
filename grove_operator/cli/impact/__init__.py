"""`grove impact`: what an edit does to what runs, for people and for programs."""
