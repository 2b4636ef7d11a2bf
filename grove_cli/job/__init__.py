"""Implements `grove job`: the history and edits of training workloads."""
