"""What exists for a set: replicas, cliques, gangs, pods, claims, domains."""
