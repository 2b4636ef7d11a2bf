"""`dcgm-diag`: runs DCGM's diagnostic of the pod's own GPUs by the node's host engine."""
