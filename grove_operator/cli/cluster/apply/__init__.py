"""`grove apply`: one run, how it gets on, and who listens to it."""
