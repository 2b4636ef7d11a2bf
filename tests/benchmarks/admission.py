"""What an answer to an API server costs: `python -m tests.benchmarks.admission`. CPU time of a review, without HTTPS."""

from __future__ import annotations

import json
import statistics
import time
from typing import Any

from grove_compiler.compile import VOCABULARY
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.step import Context
from grove_operator import rulebook
from grove_operator.webhooks.review import Judge
from tests.benchmarks.measure import machine, table
from tests.webhooks.conftest import asked

CLIQUES, VARIABLES = 20, 10
ROUNDS = 400
GOAL = 10.0
"""Milliseconds that 99 of 100 answers take at most."""


def workload() -> dict[str, Any]:
    """A set of 20 cliques, each with ten variables."""
    variables = [{"name": f"OPTION_{index}", "value": "x"} for index in range(VARIABLES)]
    pod_spec = {"containers": [{"name": "engine", "image": "engine:1", "env": variables}]}
    cliques = [{"name": f"c{index}", "spec": {"roleName": f"c{index}", "replicas": 2, "podSpec": pod_spec}} for index in range(CLIQUES)]
    metadata = {"name": "chat", "namespace": "team"}
    spec = {"replicas": 1, "template": {"cliques": cliques}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def milliseconds(judge: Judge, body: bytes) -> list[float]:
    """What each answer took, from bytes to bytes, the quickest first."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        json.dumps(judge.validate(json.loads(body)))
        taken.append((time.process_time() - began) * 1000)
    return sorted(taken)


def main() -> int:
    judge = Judge(Context(rulebook.read().program(VOCABULARY), Settings()))
    body = json.dumps(asked("CREATE", workload())).encode()
    taken = milliseconds(judge, body)
    worst = taken[ROUNDS * 99 // 100]
    print(f"{machine()}\n")
    row = [str(len(body)), f"{statistics.median(taken):.2f}", f"{worst:.2f}"]
    print(table(["bytes", "median ms", "p99 ms"], [row]))
    return int(worst > GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
