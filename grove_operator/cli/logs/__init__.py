"""Implements `grove logs`."""
