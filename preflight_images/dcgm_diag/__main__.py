"""`python -m preflight_images.dcgm_diag`."""

import os
import sys

from preflight_images.dcgm_diag.check import NAME, check
from preflight_images.shared.run import run

if __name__ == "__main__":
    sys.exit(run(NAME, check, os.environ))
