"""What `grove fit` costs: `python -m tests.benchmarks.fit`. Placement alone, then the command with its start and its files."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from grove_compiler.fit.cluster import Cluster
from grove_compiler.fit.fit import fit
from grove_compiler.fit.gang import GangDemand
from tests.benchmarks.measure import machine as this_machine
from tests.benchmarks.measure import table
from tests.fit.clusters import GPU, HOST, gang, group, machine, podgroup, racks

T = TypeVar("T")

NODES, GANGS = 2000, 500
MAX_SECONDS = 5.0
"""For the cases with equal nodes, which are what clusters look like; ragged ones are measured and not judged."""


class Case(NamedTuple):
    name: str
    cluster: Cluster
    gangs: list[GangDemand]
    judged: bool = True


def disaggregated(index: int, workers: int = 3, packs: tuple[str, str, str] = ("block", "rack", "host")) -> GangDemand:
    """A leader with workers of 8 GPUs in one rack, two pods on one host, and a router, all in one block."""
    leader = group(podgroup(1, gpu=8, cpu=16), podgroup(workers, gpu=8, cpu=16), pack=packs[1])
    return gang(leader, podgroup(2, pack=packs[2], gpu=1, cpu=4), podgroup(1, cpu=8), pack=packs[0], name=f"gang-{index}")


def cases() -> Iterator[Case]:
    equal = racks(NODES // 8, 8, gpu=8, cpu=192, memory="2Ti")
    yield Case("small gangs that all fit", equal, [gang(podgroup(3, gpu=8, cpu=16), pack="rack", name=f"g{n}") for n in range(GANGS)])
    yield Case("three levels, a quarter too many", equal, [disaggregated(n) for n in range(GANGS)])
    yield Case("no topology", equal, [disaggregated(n, packs=("", "", "")) for n in range(GANGS)])
    yield Case("three sizes, a third too many", equal, [disaggregated(n, 3 + 3 * (n % 3)) for n in range(GANGS)])
    yield Case("each gang another size, all fit", equal, [odd(n, Random(n)) for n in range(GANGS)])
    random = Random(1)
    ragged = [
        machine(f"n{n}", {"rack": f"r{n // 8}", "block": f"b{n // 64}"}, gpu=random.randint(0, 8), cpu=random.randint(10, 192))
        for n in range(NODES)
    ]
    yield Case("each gang and each node another size", ragged, [odd(n, random, 8) for n in range(GANGS)], judged=False)


def odd(index: int, random: Random, most: int = 4) -> GangDemand:
    workers = podgroup(random.randint(1, most), pack="rack", gpu=random.randint(1, 8), cpu=random.randint(1, 20))
    return gang(workers, podgroup(index % 5, gpu=index % 4, cpu=index % 11), pack="block", name=f"gang-{index}")


def timed(action: Callable[[], T]) -> tuple[T, float]:
    """What an action gives, and the CPU seconds that it took."""
    start = time.process_time()
    result = action()
    return result, time.process_time() - start


def placement() -> list[str]:
    rows, missed = [], []
    for case in cases():
        report, seconds = timed(partial(fit, case.cluster, case.gangs))
        counts = Counter(one.verdict for one in report.gangs)
        answer = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
        rows.append([case.name, f"{seconds:.2f} s", answer, str(report.steps)])
        if case.judged and seconds > MAX_SECONDS:
            missed.append(case.name)
    print(table(["case", "CPU", "gangs", "steps"], rows))
    return missed


def command() -> None:
    """The whole command: 500 replicas in one manifest, 2,000 nodes in one JSON file, as kubectl prints them."""
    from grove_cli.entry import run

    with tempfile.TemporaryDirectory() as folder:
        nodes, manifest = Path(folder, "nodes.json"), Path(folder, "set.yaml")
        nodes.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [_node(n) for n in range(NODES)]}))
        manifest.write_text(json.dumps(_set()))
        _, seconds = timed(lambda: run(["fit", str(manifest), "--nodes", str(nodes)]))
        size = f"{NODES} nodes in {nodes.stat().st_size >> 10} KiB of JSON, {GANGS} gangs"
        print(f"\ngrove fit, {size}: {seconds:.2f} s of CPU without the start of Python")


def _node(number: int) -> dict[str, object]:
    labels = {HOST: f"n{number}", "topology.kubernetes.io/rack": f"r{number // 8}"}
    allocatable = {"cpu": "192", "memory": "2Ti", GPU: "8", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{number}", "labels": labels},
        "status": {"allocatable": allocatable},
    }


def _set() -> dict[str, object]:
    container = {"name": "main", "image": "x:1", "resources": {"limits": {GPU: 8}, "requests": {"cpu": "16"}}}
    cliques = [{"name": "w", "spec": {"roleName": "w", "replicas": 4, "podSpec": {"containers": [container]}}}]
    metadata, spec = {"name": "demo", "namespace": "ml"}, {"replicas": GANGS, "template": {"cliques": cliques}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def main() -> int:
    print(f"Fit: {NODES} nodes and {GANGS} gangs ({this_machine()})\n")
    missed = placement()
    command()
    if missed:
        print(f"slower than {MAX_SECONDS} s: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
