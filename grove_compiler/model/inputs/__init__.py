"""Models the inputs of a compilation besides sets: configuration, settings, admission requests, and what exists already."""
