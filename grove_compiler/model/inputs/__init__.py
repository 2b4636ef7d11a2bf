"""What a compilation is given besides sets: configuration, settings, topologies, and what exists already."""
