"""Implements `grove get`."""
