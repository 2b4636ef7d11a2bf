"""Defines the vocabulary of results: diagnostics, nodes, edges and levels."""
