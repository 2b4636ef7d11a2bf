"""`grove job`: training workloads, what happened to them, and what people ask of them."""
