"""Writes numbers, such as hashes of templates, in the letters that Kubernetes has for the digits of its own hashes."""

from __future__ import annotations

SAFE_DIGITS = "456789bcdf"
"""Each decimal digit's letter in Kubernetes' safe alphabet, `bcdfghjklmnpqrstvwxz2456789` at the digit's ASCII code mod 27."""
_LETTERS = frozenset(SAFE_DIGITS)


def is_hash(text: str) -> bool:
    """Reports whether a text can be the hash of a template."""
    return bool(text) and _LETTERS.issuperset(text)
