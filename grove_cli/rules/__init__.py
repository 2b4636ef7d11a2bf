"""Implements `grove rules`: lists, shows and checks rules."""
