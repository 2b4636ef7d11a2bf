"""What follows from how the pods of a training workload ended: failures, restarts, and the end of the whole (GREP-0285)."""
