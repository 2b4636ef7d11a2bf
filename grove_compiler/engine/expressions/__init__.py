"""Expressions of Jinja2 to Python, with the types of the model."""
