"""Checks the audit log of a cluster: `python -m tests.invariants audit.log [--agent PREFIX] [--lag SECONDS]`.

The log has to have the writes of `resources.RESOURCES` at the level RequestResponse, from before the first set. Exits with 1 where an
operator has deleted a ready pod without a reason.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.invariants.check import AGENT, LAG, check


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.invariants", description="Finds ready pods that were deleted without a reason.")
    parser.add_argument("log", type=Path, help="an audit log, one event a line")
    parser.add_argument("--agent", default=AGENT, help="how the user agent of the operator begins (default: %(default)s)")
    parser.add_argument("--lag", type=float, default=LAG, help="seconds within which the operator hears of others (default: %(default)s)")
    options = parser.parse_args(arguments)
    verdict = check(options.log, agent=options.agent, lag=options.lag)
    print(*verdict.faults, verdict, sep="\n")
    return 1 if verdict.faults else 0


if __name__ == "__main__":
    sys.exit(main())
