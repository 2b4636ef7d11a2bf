"""Implements Kubernetes' own vocabulary: quantities, durations, name syntax, the fields of a pod template."""
