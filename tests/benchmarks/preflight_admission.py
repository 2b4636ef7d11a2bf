"""What it costs to put checks into pods: `python -m tests.benchmarks.preflight_admission [SECONDS]`.

CPU time of a review without HTTPS; then 500 pods a second over HTTPS, beside a handler of the same library that reads the JSON and lets
everything pass. The server has one core to itself, where the machine has two. On a busy machine only the CPU times tell anything.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from typing import Any

from grove_compiler.model.inputs.snapshot import ObjectList
from grove_operator.preflight.injector import MUTATE_PODS, Injector
from tests.benchmarks.admission import Asked, load, serve_answers
from tests.benchmarks.measure import machine, table
from tests.preflight.injecting import values_of
from tests.shipped import program

ROUNDS = 2000
GOAL = 5.0
"""Milliseconds that 99 of 100 answers take at most."""
PODS = Asked("tests.benchmarks.preflight_admission", MUTATE_PODS, 500)
SECONDS = 10
CHECKS = ("dcgm-diag", "nccl-loopback", "nccl-allreduce")
VALUES: dict[str, Any] = {"checks": [{"name": name, "image": "i"} for name in CHECKS], "gangDiscovery": {"method": "labels"}}
LABELS = {"app.kubernetes.io/gang-id": "g", "app.kubernetes.io/gang-size": "64"}


def review(devices: dict[str, int]) -> bytes:
    """A pod of a gang with twenty variables, as an API server asks about it."""
    env = [{"name": f"OPTION_{number}", "value": "x"} for number in range(20)]
    spec = {"containers": [{"name": "main", "image": "m", "env": env, "resources": {"limits": devices}}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "training", "labels": LABELS}, "spec": spec}
    request = {"uid": "42", "operation": "CREATE", "namespace": "training", "object": pod}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


REVIEWS = {
    "a pod of a gang, three checks": review({"nvidia.com/gpu": 8, "nvidia.com/mlnxnics": 8}),
    "a pod without GPUs": review({"cpu": 1}),
}


def the_injector() -> Injector:
    return Injector(values_of(VALUES), program(), ObjectList())


def milliseconds(injector: Injector, body: bytes) -> list[float]:
    """The CPU time of each answer, from bytes to bytes, the quickest first."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        json.dumps(injector.review(json.loads(body)))
        taken.append((time.process_time() - began) * 1000)
    return sorted(taken)


def p99(taken: list[float]) -> float:
    return taken[len(taken) * 99 // 100]


def main(seconds: float) -> int:
    print(f"{machine()}\n")
    costs = {what: milliseconds(the_injector(), body) for what, body in REVIEWS.items()}
    rows = [[what, f"{statistics.median(taken):.2f}", f"{p99(taken):.2f}"] for what, taken in costs.items()]
    print(table(["a review of", "median ms of CPU", "p99 ms of CPU"], rows), end="\n\n")
    body = next(iter(REVIEWS.values()))
    loads = {which: asyncio.run(load(which, body, seconds, PODS)) for which in ("bare", "ours")}
    rows = [
        [
            which,
            f"{statistics.median(one.taken):.2f}",
            f"{p99(one.taken):.2f}",
            f"{one.cpu * 1000 / len(one.taken):.2f}",
            f"{one.before:.0f}",
            f"{one.after:.0f}",
        ]
        for which, one in loads.items()
    ]
    header = [f"{PODS.rate}/s over HTTPS for {seconds:g} s", "median ms", "p99 ms", "ms of CPU an answer", "MB before", "MB after"]
    print(table(header, rows))
    return int(p99(loads["ours"].taken) > GOAL)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve_answers(sys.argv[2], {MUTATE_PODS: the_injector().review}, MUTATE_PODS))
    else:
        raise SystemExit(main(float(sys.argv[1]) if sys.argv[1:] else SECONDS))
