"""Churn behind a hostile server for a long time: `python -m tests.benchmarks.applier_soak [MINUTES]`, 30 unless told."""

from __future__ import annotations

import sys
import time

from applier.testing.control_plane import ControlPlane
from applier.transport import run
from tests.applier.endurance.soak import Account, Sample, soak

MINUTES = 30.0
EVERY = 30.0  # seconds between lines


class Teller:
    """Prints a line about a sample now and then."""

    def __init__(self) -> None:
        self.begun = self.told = time.monotonic()

    def __call__(self, one: Sample) -> None:
        if time.monotonic() - self.told >= EVERY:
            self.told = time.monotonic()
            after = self.told - self.begun
            print(f"{after:6.0f} s  {one.memory:6.1f} MB  {one.tasks:3} tasks  {one.descriptors:3} descriptors", flush=True)


def report(account: Account) -> int:
    """Prints what a soak came to, and gives the exit code."""
    print(f"{account.edits} edits, {account.meddling} times meddled with, {account.faults} faults, {account.requests} requests of ours")
    print(f"memory grew by {account.growth():.1f} MB from the second third to the last; most tasks {account.most_tasks()}")
    print(f"before {account.start}\nafter  {account.left}")
    for line in filter(None, [account.judged, *account.wrong]):
        print(line)
    return 1 if account.wrong else 0


def main(minutes: float) -> int:
    with ControlPlane.start() as plane:
        return report(run(soak(plane, minutes * 60, tell=Teller())))


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if sys.argv[1:] else MINUTES))
