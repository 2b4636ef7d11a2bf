"""The pages in `docs/`: what they show is what happens."""
