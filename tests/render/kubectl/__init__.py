"""Formats of `kubectl get -o`."""
