"""`python -m preflight_images.nccl_loopback`."""

from preflight_images.nccl_loopback.check import NAME, check
from preflight_images.shared.run import main

if __name__ == "__main__":
    main(NAME, check)
