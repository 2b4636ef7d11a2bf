"""Reads and writes YAML and JSON, and knows the place of every value that it reads."""
