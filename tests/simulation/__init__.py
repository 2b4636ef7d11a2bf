"""A small world in which an operator runs: a cluster in memory, nodes, and a clock that moves when told."""
