"""Compiles rules and templates to Python functions."""
