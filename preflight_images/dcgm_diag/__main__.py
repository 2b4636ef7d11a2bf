"""`python -m preflight_images.dcgm_diag`."""

from preflight_images.dcgm_diag.check import NAME, check
from preflight_images.shared.run import main

if __name__ == "__main__":
    main(NAME, check)
