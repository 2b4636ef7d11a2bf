"""Says how many of some small faults, put into the product, the tests without a server find: `python -m tests.benchmarks.mutants`.

It shows whether a change of the tests has cost them strength. Run it with the tests from before and with the new ones, on the same mutants:

    python -m tests.benchmarks.mutants --tests ../before --json before.json
    python -m tests.benchmarks.mutants --compare before.json

The product is always the one of this checkout; `--tests` names another checkout, or its folder of tests. A mutant is told by its file,
line, column and kind, so both runs need the same product and the same `--seed` and `--count`.

Faults are put into functions in memory. What a test starts as a process of its own, such as `python -m grove_cli`, does not have them,
nor have rules that a test's module reads when it is imported. Of the tests of an area, a fault in Python meets those in whose file one
reaches its statement; what a test of another file has made for the whole session is not seen. A mutant is found if a test fails, or if one
takes ten times as long as without the fault (at least 10 s of CPU, or 30 s on the clock). After `--budget` seconds of CPU it is given up.

Exit code 1: a mutant of `--compare` is no longer found; 2: nothing could be measured, for instance as a test fails without a fault.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.mutation import report
from tests.benchmarks.mutation.areas import AREAS
from tests.benchmarks.mutation.mutant import STILLBORN
from tests.benchmarks.mutation.run import CannotRun, run
from tests.benchmarks.mutation.sample import sample
from tests.benchmarks.mutation.workspace import tests_of

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and prints; returns the exit code."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that the server ends as well, and the copy is removed
    areas = [area for area in AREAS if options.only in (None, area.name)]
    try:
        old = report.load(options.compare) if options.compare else None
        mutants = sample(ROOT, areas, options.count, options.seed)
        measured = run(ROOT, tests_of(options.tests).resolve(), mutants, areas, options.jobs, options.budget)
    except (CannotRun, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    for line in report.table(measured, measured.areas):
        print(line)
    if stillborn := sum(result.outcome == STILLBORN for result in measured):
        print(f"\n{stillborn} more are no rules at all, and do not count")
    for line in (*report.not_found(measured), *measured.remarks):
        print(line)
    if options.json:
        report.dump(measured, options.json, seed=options.seed, count=options.count, budget=options.budget)
    if old is None:
        return 0
    comparison = report.Comparison(old, measured)
    for line in comparison.lines():
        print(line)
    return 1 if comparison.lost else 0


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 on")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mutants", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=_at_least_one, default=300, help="mutants of all areas together (300)")
    parser.add_argument("--seed", type=int, default=1, help="chooses other mutants (1)")
    parser.add_argument("--jobs", type=_at_least_one, default=2, help="mutants at a time (2)")
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="CPU for each mutant (60)")
    parser.add_argument("--tests", type=Path, default=ROOT, metavar="DIR", help="a checkout whose tests are used, or its folder of tests")
    parser.add_argument("--only", choices=[area.name for area in AREAS], help="only its share of the mutants")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="list what FILE has as found, and this run has not")
    return parser


if __name__ == "__main__":
    sys.exit(main())
