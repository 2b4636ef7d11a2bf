"""Commands that talk to a cluster, and what they share: options, a session, and words for what became of objects."""
