"""Implements `grove why`."""
