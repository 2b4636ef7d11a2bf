"""Implements `grove diff`."""
