"""What exists: sets, replicas, cliques, scaling groups, gangs and pods."""
