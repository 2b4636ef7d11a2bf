"""What the user wrote: a set, its cliques and scaling groups, and what they ask for."""
