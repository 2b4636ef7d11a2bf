"""Implements `grove describe`."""
