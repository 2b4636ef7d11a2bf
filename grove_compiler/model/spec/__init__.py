"""Models the spec as the user wrote it: a set, its cliques and scaling groups, and what they request."""
