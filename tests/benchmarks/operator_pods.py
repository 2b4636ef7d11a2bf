"""What a pod costs in a small and in a large set: `python -m tests.benchmarks.operator_pods [PODS...]`.

Sets of 1,000 and of 10,000 pods, unless told otherwise, each on a control plane of its own without scheduler and nodes: what is measured
is the operator. Then pods become ready, one after the other, each in another replica; what that costs is CPU time of the operator's
process beyond what it uses while nothing happens. Goals: within 1 GiB, and a change costs no more in the large set than in the small one.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from applier.testing.control_plane import ControlPlane
from applier.testing.plane import RunningPlane
from tests.benchmarks.measure import machine, table
from tests.benchmarks.operator import PODS, PODS_PATH, Operator, define, pod_clique_set, pods, settle, until, writes

SIZES = (1_000, 10_000)
CHANGES = 40
APART = 0.5
"""Seconds between two changes: more than the pace of sets, so that each change is counted by its set as well."""
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def main() -> int:
    sizes = [int(one) for one in sys.argv[1:]] or SIZES
    print(f"{machine()}\n", flush=True)
    rows = [measured(size) for size in sizes]
    print(table(["pods", "created s", "CPU s until then", "peak MB", "CPU ms a change", "writes a change"], rows))
    return 0


def measured(size: int) -> list[str]:
    """Makes a set of so many pods, lets some become ready, and gives the row of it."""
    with tempfile.TemporaryDirectory() as folder, ControlPlane.start() as plane:
        define(plane)
        operator = Operator(plane, Path(folder) / "log")
        time.sleep(3)
        plane.kubectl("apply", "-f", "-", input=json.dumps(pod_clique_set(size // PODS)))
        created = until(lambda: pods(plane) >= size, 1200.0)
        settle(plane)
        used = operator.cpu()
        per_change, asked = changes(plane, operator)
        peak = operator.peak()
        operator.stop()
    return [f"{size:,}", f"{created:.0f}", f"{used:.1f}", f"{peak:.0f}", f"{per_change * 1000:.1f}", f"{asked:.1f}"]


def changes(plane: RunningPlane, operator: Operator) -> tuple[float, float]:
    """CPU seconds and writes for each pod that becomes ready."""
    names = one_of_each_clique(plane)
    before = operator.cpu()
    time.sleep(len(names) * APART)
    idle, mark = operator.cpu() - before, plane.mark()
    for name in names:
        content = "application/merge-patch+json"
        plane.request("PATCH", f"{PODS_PATH}/{name}/status", {"status": READY}, content_type=content)
        time.sleep(APART)
    used = operator.cpu() - before - 2 * idle
    return used / len(names), len(writes(plane, mark)) / len(names)


def one_of_each_clique(plane: RunningPlane) -> list[str]:
    """The names of so many pods as are changed, no two of a PodClique."""
    items: list[dict[str, Any]] = plane.request("GET", f"{PODS_PATH}?limit={CHANGES * PODS}")["items"]
    by_clique = {one["metadata"]["labels"]["grove.io/podclique"]: one["metadata"]["name"] for one in items}
    return list(by_clique.values())[:CHANGES]


if __name__ == "__main__":
    sys.exit(main())
