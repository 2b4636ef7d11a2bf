"""`dcgm-diag`: DCGM's diagnostic of the pod's own GPUs, by the engine of the node."""
