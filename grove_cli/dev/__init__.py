"""`grove dev`: a cluster without a cluster, on this machine, with nodes that kwok plays and the operator."""
