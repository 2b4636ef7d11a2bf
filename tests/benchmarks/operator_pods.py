"""What a pod costs in a small and in a large set: `python -m tests.benchmarks.operator_pods [PODS...]`.

Sets of 1,000 and of 10,000 pods, unless told otherwise, each on a control plane of its own without scheduler and nodes: what is measured
is the operator. Then pods become ready, one after the other, each in another replica; what that costs is CPU time of the operator's
process beyond what it uses while nothing happens. Goals: within 1 GiB, and a change costs no more in the large set than in the small one.
Ends with 1 when one of them is missed.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from applier.testing.control_plane import ControlPlane
from applier.testing.plane import RunningPlane
from tests.benchmarks.measure import machine, table
from tests.benchmarks.operator import PODS, PODS_PATH, Operator, counted, define, pod_clique_set, pods, settle, until, writes

SIZES = (1_000, 10_000)
CHANGES = 40
APART = 0.5
"""Seconds between two changes: more than the pace of sets, so that each change is counted by its set as well."""
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


MAX_MB = 1024
MAX_DIFFERENCE = 0.25
"""How much more a change may cost in the largest set than in the smallest: it is a few milliseconds, and others use the machine, too."""
LONGEST = 1800.0


class Cost(NamedTuple):
    """What a set of so many pods took: seconds until they were made, CPU seconds until it was settled, then CPU milliseconds a change."""

    pods: int
    created: float
    cpu: float
    peak_mb: float
    change_ms: float
    writes: float


def main() -> int:
    sizes = [int(one) for one in sys.argv[1:]] or SIZES
    print(f"{machine()}\n", flush=True)
    costs = [measured(size) for size in sizes]
    rows = [
        [f"{one.pods:,}", f"{one.created:.0f}", f"{one.cpu:.1f}", f"{one.peak_mb:.0f}", f"{one.change_ms:.1f}", f"{one.writes:.1f}"]
        for one in costs
    ]
    goals = ["goal", "", "", f"{MAX_MB:,}", "the same for all", ""]
    print(table(["pods", "created s", "CPU s until settled", "peak MB", "CPU ms a change", "writes a change"], [*rows, goals]))
    missed = list(misses(costs))
    print(f"missed: {', '.join(missed)}" if missed else "all goals are kept")
    return 1 if missed else 0


def misses(costs: list[Cost]) -> Iterator[str]:
    for one in costs:
        if one.created == float("inf"):
            yield f"{one.pods:,} pods were not made in {LONGEST:.0f} s"
        if one.peak_mb > MAX_MB:
            yield f"{one.peak_mb:.0f} MB for {one.pods:,} pods"
        if one.change_ms <= 0:
            yield f"what a change costs among {one.pods:,} pods cannot be recorded: the operator had not come to rest"
    if costs[-1].change_ms > costs[0].change_ms * (1 + MAX_DIFFERENCE):
        yield f"a change costs {costs[-1].change_ms / costs[0].change_ms:.2f} times as much among {costs[-1].pods:,} pods"


def measured(size: int) -> Cost:
    """Makes a set of so many pods, and lets some become ready."""
    with tempfile.TemporaryDirectory() as folder, ControlPlane.start() as plane:
        define(plane)
        operator = Operator(plane, Path(folder) / "log")
        time.sleep(3)
        plane.kubectl("apply", "-f", "-", input=json.dumps(pod_clique_set(size // PODS)))
        created = counted(lambda: pods(plane), size, "pods", LONGEST)
        settle(plane)
        used = operator.cpu()
        per_change, asked = changes(plane, operator)
        peak = operator.peak()
        operator.stop()
    return Cost(size, created, used, peak, per_change * 1000, asked)


def changes(plane: RunningPlane, operator: Operator) -> tuple[float, float]:
    """CPU seconds, the median, and writes for each pod that becomes ready."""
    names = one_of_each_clique(plane)
    come_to_rest(operator)
    idle = statistics.median(_used(operator) for _ in names)
    mark = plane.mark()
    costs = [_used(operator, partial(_make_ready, plane, name)) for name in names]
    return statistics.median(costs) - idle, len(writes(plane, mark)) / len(names)


def _used(operator: Operator, change: Callable[[], object] = lambda: None) -> float:
    """CPU seconds from a change to the next one."""
    before = operator.cpu()
    change()
    time.sleep(APART)
    return operator.cpu() - before


def _make_ready(plane: RunningPlane, name: str) -> None:
    plane.request("PATCH", f"{PODS_PATH}/{name}/status", {"status": READY}, content_type="application/merge-patch+json")


def come_to_rest(operator: Operator) -> None:
    """Returns when the operator has used next to nothing for a while: it also looks at what it does not write."""

    def rests() -> bool:
        before = operator.cpu()
        time.sleep(5.0)
        return operator.cpu() - before < 0.05

    until(rests, 300.0)


def one_of_each_clique(plane: RunningPlane) -> list[str]:
    """The names of so many pods as are changed, no two of a PodClique."""
    items: list[dict[str, Any]] = plane.request("GET", f"{PODS_PATH}?limit={CHANGES * PODS}")["items"]
    by_clique = {one["metadata"]["labels"]["grove.io/podclique"]: one["metadata"]["name"] for one in items}
    return list(by_clique.values())[:CHANGES]


if __name__ == "__main__":
    sys.exit(main())
