"""`nccl-allreduce`: measures the bandwidth of a collective over all GPUs of a gang by PyTorch and NCCL."""
