"""`grove dev`: a cluster on this machine."""
