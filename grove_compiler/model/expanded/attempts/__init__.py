"""Models the attempts of a training workload's replicas and how their pods ended (GREP-0285); pods and gangs depend on it."""
