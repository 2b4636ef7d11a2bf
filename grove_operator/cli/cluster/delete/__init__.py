"""`grove delete`: its options, and one run."""
