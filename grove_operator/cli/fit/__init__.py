"""Implements `grove fit`."""
