"""Implements `grove impact`."""
