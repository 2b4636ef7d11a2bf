"""Waits in an init container until the pods of the cliques that a pod starts after are ready."""
