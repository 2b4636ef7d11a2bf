"""Models the life of a training workload: failures, restarts, and its end (GREP-0285)."""
