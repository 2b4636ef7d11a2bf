"""The commands of the operator in a cluster."""
