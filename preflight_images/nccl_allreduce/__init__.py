"""`nccl-allreduce`: bandwidth of a collective across all GPUs of a gang, by PyTorch and NCCL."""
