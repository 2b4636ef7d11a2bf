"""Compiles expressions from Jinja2's syntax to Python, checked against the types of the model."""
