"""Implements `grove timeline`: what happened to a set, as a table, JSON or a picture."""
