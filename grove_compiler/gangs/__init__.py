"""Reads sets, replicas, gangs, scaling groups, cliques, pods, GPUs and topology levels from compiled objects."""
