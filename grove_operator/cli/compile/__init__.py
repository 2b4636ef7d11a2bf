"""Implements `grove compile`."""
