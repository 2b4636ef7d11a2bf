"""Implements `grove top`."""
