"""Compiles rules and templates to one Python module."""
