"""Implements `grove lint`, with output for terminals, code scanning and GitHub Actions."""
