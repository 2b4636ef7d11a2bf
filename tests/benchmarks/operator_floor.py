"""What scaling in costs whoever does it: `python -m tests.benchmarks.operator_floor [REPLICAS]`.

Makes the set of the operator's benchmark, ends the operator, and lets a bare client delete what it would delete for half of the replicas
and then for the rest, as many at a time as it does. To be read beside what `operator` tells of the same: no controller can be faster.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from applier.ref import Kind
from applier.testing.plane import RunningPlane
from applier.transport import connect
from tests.benchmarks.measure import machine
from tests.benchmarks.operator import PODS, REPLICAS, Operator, ServerCosts, create, pods, world

IN_FLIGHT = 16
GROVE = (Kind("grove.io", "v1alpha1", "PodClique"), Kind("scheduler.grove.io", "v1alpha1", "PodGang"))
KINDS = (Kind("", "v1", "Pod"), Kind("", "v1", "Service"), *GROVE)
OF_SET = "app.kubernetes.io/part-of=scale"


def main() -> int:
    replicas = int(sys.argv[1]) if sys.argv[1:] else REPLICAS
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as folder, world() as plane:
        operator = Operator(plane, Path(folder) / "log")
        time.sleep(3)
        create(plane, operator, replicas)
        operator.stop()
        for left in (replicas // 2, 0):
            before, costs, began = pods(plane), ServerCosts(plane), time.monotonic()
            count = asyncio.run(remove(plane, left))
            while pods(plane) > left * PODS:
                time.sleep(0.1)
            print(f"to {left}: {time.monotonic() - began:.1f} s by {count:,} deletes, {costs.of_each(before - left * PODS)}", flush=True)
    return 0


async def remove(plane: RunningPlane, left: int) -> int:
    """Asks for the objects of all replicas to go but for so many; returns how many that were."""
    turns = asyncio.Semaphore(IN_FLIGHT)
    async with connect(kubeconfig=str(plane.kubeconfig)) as cluster:
        resources = [await cluster.resource(kind) for kind in KINDS]

        async def delete(resource: Any, metadata: dict[str, Any]) -> None:
            async with turns:
                await cluster.delete(resource, "default", metadata["name"], uid=metadata["uid"])

        listed = [(resource, (await cluster.list(resource, "default", labels=OF_SET)).items) for resource in resources]
        wanted = [(resource, one["metadata"]) for resource, items in listed for one in items]
        gone = [(resource, metadata) for resource, metadata in wanted if int(metadata["name"].split("-")[1]) >= left]
        await asyncio.gather(*(delete(resource, metadata) for resource, metadata in gone))
    return len(gone)


if __name__ == "__main__":
    sys.exit(main())
