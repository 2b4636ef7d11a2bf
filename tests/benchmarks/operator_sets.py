"""Whether sets wait for another's trouble: `python -m tests.benchmarks.operator_sets [SETS]`.

1,000 sets of 10 pods, unless told otherwise, on a real control plane with kube-scheduler and kwok's nodes: alone, beside a set whose
pods the server refuses, and beside one whose webhook does not answer. Goal: all others are ready, and no later than alone. Ends with 1
when it is missed.
"""

from __future__ import annotations

import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from applier.testing.plane import RunningPlane
from tests.benchmarks.measure import machine, table
from tests.benchmarks.operator import Operator, counted, pod_clique_set, world

SETS, PODS = 1_000, 10
AT_A_TIME = 16
"""How many people make sets at once."""
BAD_REPLICAS = 30
"""More than there are workers."""
SETS_PATH = "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets"
WEBHOOKS_PATH = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MAX_DIFFERENCE = 0.15
"""How much later the others may be ready than alone: the set in trouble asks the server for something, too, and so do other programs."""
LONGEST = 3_600.0
TROUBLES = ("none", "pods are refused", "a webhook does not answer")


def main() -> int:
    count = int(sys.argv[1]) if sys.argv[1:] else SETS
    print(f"{machine()}\n", flush=True)
    costs = [measured(count, trouble) for trouble in TROUBLES]
    rows = [[one.trouble, f"{one.stored:.1f}", f"{one.ready:.1f}", f"{one.cpu:.1f}", f"{one.peak_mb:.0f}"] for one in costs]
    names = ["one more set, of which", "stored s", "all others ready s", "CPU s", "peak MB"]
    print(table(names, [*rows, ["goal", "", "the same for all", "", ""]]))
    late = [one for one in costs if one.ready == float("inf") or one.ready > costs[0].ready * (1 + MAX_DIFFERENCE)]
    print(f"missed: {', '.join(f'{one.ready:.1f} s where {one.trouble}' for one in late)}" if late else "the goal is kept")
    return 1 if late else 0


class Cost(NamedTuple):
    """How long it took until all sets were stored, and ready but for the one in trouble, and what the operator used meanwhile."""

    trouble: str
    stored: float
    ready: float
    cpu: float
    peak_mb: float


def measured(count: int, trouble: str) -> Cost:
    """Makes the sets beside one with a trouble."""
    with tempfile.TemporaryDirectory() as folder, world() as plane, silence() as url:
        operator = Operator(plane, Path(folder) / "log")
        time.sleep(3)
        if trouble != "none":
            begin_trouble(plane, trouble, url)
            time.sleep(3)
        began = time.monotonic()  # a busy server takes its time to store the sets as well
        with ThreadPoolExecutor(AT_A_TIME) as people:
            list(people.map(lambda number: plane.request("POST", SETS_PATH, named(f"set-{number}")), range(count)))
        stored = time.monotonic() - began
        ready = stored + counted(lambda: ready_sets(plane), count, f"sets ready ({trouble})", LONGEST)
        cost = Cost(trouble, stored, ready, operator.cpu(), operator.peak())
        operator.stop()
    return cost


def begin_trouble(plane: RunningPlane, trouble: str, url: str) -> None:
    """Makes the set that is in trouble."""
    bad = named("bad", BAD_REPLICAS)
    if trouble == "pods are refused":
        bad["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["runtimeClassName"] = "no-such-class"
    else:
        plane.request("POST", WEBHOOKS_PATH, webhook(url))
    plane.request("POST", SETS_PATH, bad)


def named(name: str, replicas: int = 1) -> dict[str, Any]:
    """A set of one clique of ten pods."""
    one = pod_clique_set(replicas)
    one["metadata"]["name"] = name
    one["spec"]["template"]["cliques"][0]["spec"]["replicas"] = PODS
    return one


def webhook(url: str) -> dict[str, Any]:
    """Lets the server ask somebody about the pods of the set in trouble."""
    hook = {
        "name": "pods.silent.example",
        "clientConfig": {"url": url},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "objectSelector": {"matchLabels": {"app.kubernetes.io/part-of": "bad"}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 10,
        "failurePolicy": "Fail",
    }
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    return {**kind, "metadata": {"name": "silent"}, "webhooks": [hook]}


@contextmanager
def silence() -> Iterator[str]:
    """The address of somebody who takes every call and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as server:
        yield f"https://127.0.0.1:{server.getsockname()[1]}/"


def ready_sets(plane: RunningPlane) -> int:
    """How many sets, but for the one in trouble, say that they are available."""
    time.sleep(0.4)  # a list of a thousand sets costs the server something, too
    sets: list[dict[str, Any]] = plane.request("GET", SETS_PATH)["items"]
    return sum(one.get("status", {}).get("availableReplicas") == 1 for one in sets if one["metadata"]["name"] != "bad")


if __name__ == "__main__":
    sys.exit(main())
