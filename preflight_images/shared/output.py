"""What reading the output of any program has in common."""

from __future__ import annotations


class UnreadableOutput(Exception):
    """Reports output of a program that is cut off, garbled, or without a complete result. The message is one line."""
