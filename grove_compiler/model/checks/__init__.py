"""Answers questions of validation rules about a set, or about a change of it."""
