"""Commands that connect to a cluster, and their shared options, session and output of outcomes."""
