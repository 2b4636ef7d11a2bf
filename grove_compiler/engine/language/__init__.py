"""Reads and checks rule files: their keys and forms, templates as trees, and the order in which rules run."""
