"""Implements `grove explain`."""
