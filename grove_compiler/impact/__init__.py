"""Computes what an edit of the input does to existing objects, from two compilations. Pure."""
