"""`nccl-loopback`: bandwidth between the GPUs of one pod, by `all_reduce_perf` of nccl-tests."""
