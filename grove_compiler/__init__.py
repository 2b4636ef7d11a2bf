"""Compiles a PodCliqueSet, and what it refers to, to every Kubernetes object that should exist. Pure: no I/O, clock or randomness."""
