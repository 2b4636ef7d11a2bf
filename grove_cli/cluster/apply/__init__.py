"""Implements `grove apply`."""
