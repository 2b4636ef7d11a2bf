"""Churn over twenty sets for a long time: `python -m tests.benchmarks.operator_soak [MINUTES]`, 30 unless told.

People edit and delete, the operator is killed, the server misbehaves and is away. In the end every set is what a fresh apply makes,
and no ready pod was deleted without a reason.
"""

from __future__ import annotations

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
    sys.exit(main(float(sys.argv[1]) if sys.argv[1:] else MINUTES))
