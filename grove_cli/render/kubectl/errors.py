"""Defines the error of an expression that selects fields of objects."""

from __future__ import annotations


class InvalidExpression(Exception):
    """An expression cannot be parsed, or selects something that is not there. The message is kubectl's."""
