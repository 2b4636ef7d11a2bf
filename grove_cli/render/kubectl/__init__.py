"""Prints objects in the formats of `kubectl get -o`."""
