"""Churn over twenty sets for a long time: `python -m tests.benchmarks.operator_soak [MINUTES]`, 30 unless told.

People edit and delete, the operator is killed, the server misbehaves and is away. In the end every set is what a fresh apply makes,
and its audit log shows no ready pod that was deleted without a reason (`tests/invariants`).
"""

from __future__ import annotations

import argparse
import sys

from applier.transport import run
from tests.benchmarks.applier_soak import MINUTES, Teller, report
from tests.benchmarks.operator import world
from tests.controller.live.soak import soak
from tests.invariants.resources import RESOURCES


def main(minutes: float) -> int:
    with world(RESOURCES) as plane:
        return report(run(soak(plane, minutes * 60, tell=Teller())))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.operator_soak", description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=MINUTES)
    sys.exit(main(parser.parse_args().minutes))
