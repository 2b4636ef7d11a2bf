"""Implements `grove events`."""
