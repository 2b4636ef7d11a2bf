"""Attempts of a training workload's replicas, and what became of their pods (GREP-0285): what pods and gangs rest on."""
