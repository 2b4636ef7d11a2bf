"""YAML and JSON in and out, with the place of every value."""
