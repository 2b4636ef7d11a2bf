"""Implements `grove replay`."""
