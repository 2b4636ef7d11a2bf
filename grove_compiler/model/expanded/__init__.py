"""Expands a set into what exists for it: replicas, cliques, gangs, pods, claims, domains."""
