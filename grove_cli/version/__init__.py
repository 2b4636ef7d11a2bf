"""Implements `grove version`."""
