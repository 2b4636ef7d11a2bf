"""Reads input files: selects them, and parses their documents and objects."""
