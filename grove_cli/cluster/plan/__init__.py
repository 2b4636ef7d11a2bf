"""Implements `grove plan`."""
