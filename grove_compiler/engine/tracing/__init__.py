"""Traces which line of which rule made a field, and from which inputs, by running the same rules in a recording form."""
