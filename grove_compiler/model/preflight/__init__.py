"""What preflight checks rest on: what a pod asks for, what its claims are, which gang it is in."""
