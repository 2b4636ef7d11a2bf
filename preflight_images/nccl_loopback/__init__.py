"""`nccl-loopback`: measures the bandwidth between the GPUs of a pod by `all_reduce_perf` of nccl-tests."""
