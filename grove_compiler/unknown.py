"""Defines the error of a question about the cluster that cannot be answered now."""


class Unknown(Exception):
    """Reports a question that a view cannot answer now, as a cache that has not listed a kind yet.

    No rule is at fault, and nothing computed so far may be cached; so it is not among the `FAILURES` of expressions.
    """
