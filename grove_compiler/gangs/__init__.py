"""What compiled objects say about sets, replicas, gangs, scaling groups, cliques, pods, GPUs and topology levels: read in one place."""
