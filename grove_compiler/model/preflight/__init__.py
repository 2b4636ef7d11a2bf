"""Models what decides about preflight checks (ADR-026): the pod, its devices and claims, its gang, and the Helm values."""
