"""Users' own golden cases: what goes in, what is expected, and how what came out differs from it."""
