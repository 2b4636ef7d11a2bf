"""Implements `grove serve`: a web page with the live state of sets."""
