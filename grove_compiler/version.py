"""Defines the version of the program, the only place that does."""

__version__ = "0.1.0"
