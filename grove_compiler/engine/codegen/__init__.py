"""Rules and templates to one Python module."""
