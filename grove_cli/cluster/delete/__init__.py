"""Implements `grove delete`."""
