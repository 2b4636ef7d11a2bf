"""The reference of the rules language, from its tables and the model's docstrings."""
