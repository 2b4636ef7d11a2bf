"""`python -m preflight_images.nccl_loopback`."""

import os
import sys

from preflight_images.nccl_loopback.check import NAME, check
from preflight_images.shared.run import run

if __name__ == "__main__":
    sys.exit(run(NAME, check, os.environ))
