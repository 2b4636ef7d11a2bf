"""What the operator does with a set of 500 replicas of 2 pods: `python -m tests.benchmarks.operator [REPLICAS]`.

The shipped operator's scale test (its `ScaleTest_1000`) on a real control plane with kube-scheduler, controller manager and kwok's nodes,
all on this machine: create, scale to half, to nothing, back, and to nothing at once. Writes are counted in the server's audit log,
by user agent.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from applier.testing.control_plane import ControlPlane
from applier.testing.counts import Requests
from applier.testing.plane import CONTROLLER_MANAGER, KWOK, SCHEDULER, RunningPlane
from tests.benchmarks.measure import cpu_seconds, machine

REPLICAS, PODS = 500, 2
NODES = 100
SHIPPED = {"created": 39.4, "ready": 105.6, "writes": 9_930, "half": 20.4, "none": 21.0}
"""The shipped operator with its CI settings, on such a machine."""
PODS_PATH = "/api/v1/namespaces/default/pods"
WRITE = re.compile(r'verb="(?:POST|PUT|PATCH|DELETE)"')
SET_PATH = "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets/scale"


def pod_clique_set(replicas: int) -> dict[str, Any]:
    """The scale test's set: one clique of two pods that ask for next to nothing."""
    box = {"name": "box", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "10m"}}}
    clique = {"roleName": "worker", "replicas": PODS, "podSpec": {"containers": [box], "terminationGracePeriodSeconds": 1}}
    template = {"cliques": [{"name": "worker", "spec": clique}]}
    metadata = {"name": "scale", "namespace": "default"}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": metadata,
        "spec": {"replicas": replicas, "template": template},
    }


class Operator:
    """The operator's process, with more options where they are given."""

    def __init__(self, plane: RunningPlane, log: Path, options: Sequence[str] = ()) -> None:
        command = [sys.executable, "-m", "grove_cli", "operator", "run", "--kubeconfig", str(plane.kubeconfig), *options]
        self._process = subprocess.Popen(command, stderr=log.open("w"))

    def cpu(self) -> float:
        """CPU time so far, in seconds."""
        return cpu_seconds(self._process.pid)

    def peak(self) -> float:
        """The most memory that it has had, in MB."""
        peak = next(line for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 1024

    def usage(self) -> str:
        """CPU time and peak memory so far."""
        return f"{self.cpu():.1f} s CPU, {self.peak():.0f} MB"

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)  # writes that a silent webhook holds have 20 s to end


class ServerCosts:
    """CPU time of the servers from now on."""

    SERVERS = ("etcd", "kube-apiserver", CONTROLLER_MANAGER, SCHEDULER, KWOK)

    def __init__(self, plane: RunningPlane) -> None:
        self._plane = plane
        self._began = self._so_far()

    def of_each(self, pods: int) -> str:
        """Milliseconds for each of so many pods."""
        used = {name: (now - self._began[name]) / pods * 1000 for name, now in self._so_far().items()}
        return f"{sum(used.values()):.1f} ms of the servers' CPU a pod: {', '.join(f'{name} {ms:.1f}' for name, ms in used.items())}"

    def _so_far(self) -> dict[str, float]:
        guards = {name: self._plane.server(name).process.pid for name in self.SERVERS}
        children = {name: Path(f"/proc/{pid}/task/{pid}/children").read_text() for name, pid in guards.items()}
        return {name: cpu_seconds(int(pids.split()[0])) for name, pids in children.items()}


@contextmanager
def world(bodies: Sequence[str] = ()) -> Iterator[ControlPlane]:
    """A control plane with nodes and our definitions. Of the resources in `bodies` its audit log has every write with its object."""
    with ControlPlane.start(parts=(CONTROLLER_MANAGER, SCHEDULER, KWOK), bodies=bodies) as plane:
        define(plane)
        plane.kubectl("apply", "-f", "-", input="\n---\n".join(json.dumps(node(number)) for number in range(NODES)))
        yield plane


def define(plane: RunningPlane) -> None:
    """Lets a server know Grove's kinds."""
    crds = subprocess.run([sys.executable, "-m", "grove_cli", "crds"], check=True, capture_output=True, text=True).stdout
    plane.kubectl("apply", "--server-side", "-f", "-", input=crds)


def node(number: int) -> dict[str, Any]:
    size = {"cpu": "64", "memory": "512Gi", "pods": "250"}
    metadata = {"name": f"node-{number}", "annotations": {"kwok.x-k8s.io/node": "fake"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"capacity": size, "allocatable": size}}


def pods(plane: RunningPlane) -> int:
    """How many pods there are. A list of a thousand pods would cost the server and us more than what is measured."""
    page = plane.request("GET", f"{PODS_PATH}?limit=1")
    return len(page["items"]) + int(page["metadata"].get("remainingItemCount") or 0)


def available(plane: RunningPlane) -> int:
    """How many replicas the set says are available."""
    status = plane.request("GET", SET_PATH).get("status") or {}
    return int(status.get("availableReplicas") or 0)


def are_ready(plane: RunningPlane, replicas: int) -> bool:
    """Whether all pods are ready: read one by one once all else says so. The cheapest question comes first, asked ten times a second."""
    if pods(plane) != replicas * PODS or available(plane) != replicas:
        return False
    return all(map(is_ready, plane.request("GET", PODS_PATH)["items"]))


def is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def until(reached: Callable[[], bool], limit: float = 240.0) -> float:
    """Seconds until it is so; infinity when it is not by then."""
    began = time.monotonic()
    while not reached():
        if time.monotonic() - began > limit:
            return float("inf")
        time.sleep(0.1)
    return time.monotonic() - began


def counted(count: Callable[[], int], total: int, what: str, limit: float) -> float:
    """Seconds until there are so many, told on the way every ten seconds."""
    began = told = time.monotonic()

    def reached() -> bool:
        nonlocal told
        found = count()
        if time.monotonic() - told >= 10.0:
            told = time.monotonic()
            print(f"{told - began:6.0f} s: {found:,} of {total:,} {what}", flush=True)
        return found >= total

    return until(reached, limit)


def settle(plane: RunningPlane, quiet: float = 3.0) -> None:
    """Returns when the operator has written nothing for a while."""
    mark = plane.mark()
    while True:
        time.sleep(quiet)
        if not len(writes(plane, mark)):
            return
        mark = plane.mark()


def at_rest(plane: RunningPlane, quiet: float = 10.0, limit: float = 180.0) -> None:
    """Returns when nobody has changed anything for a while, the servers' own controllers included.

    The controller manager sends twenty requests a second at most, and is behind with the EndpointSlices of 500 Services when the pods are
    ready. The shipped operator takes so long until then that it is not.
    """
    seen, since, began = changes(plane), time.monotonic(), time.monotonic()
    while time.monotonic() - since < quiet and time.monotonic() - began < limit:
        time.sleep(1.0)
        if (now := changes(plane)) != seen:
            seen, since = now, time.monotonic()


def changes(plane: RunningPlane) -> int:
    """How many writes the API server has answered so far, but for leases, which are renewed for ever."""
    lines = plane.kubectl("get", "--raw", "/metrics").stdout.splitlines()
    counts = (line for line in lines if line.startswith("apiserver_request_total{") and 'resource="leases"' not in line)
    return sum(int(float(line.rpartition(" ")[2])) for line in counts if WRITE.search(line))


def writes(plane: RunningPlane, since: int) -> Requests:
    """What the operator has written since a mark."""
    return plane.requests(since).only(agent="grove/").writes


def told(done: Requests) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(done.by("verb", "resource", "subresource").items()))


def events(plane: RunningPlane) -> str:
    """What the operator has told people, by reason; nothing where all went well."""
    items = plane.request("GET", "/api/v1/namespaces/default/events")["items"]
    reasons = Counter(one["reason"] for one in items if one.get("reportingComponent") == "grove-operator")
    return "".join(f", {count} events {reason}" for reason, count in reasons.items())


def scale(plane: RunningPlane, replicas: int) -> None:
    plane.kubectl("scale", "pcs", "scale", f"--replicas={replicas}")


def main() -> int:
    replicas = int(sys.argv[1]) if sys.argv[1:] else REPLICAS
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as folder, world() as plane:
        operator = Operator(plane, Path(folder) / "log", sys.argv[2:])
        time.sleep(3)
        create(plane, operator, replicas)
        for target in (replicas // 2, 0, replicas, 0):
            at_rest(plane)
            rescale(plane, target)
        print(f"in all {operator.usage()}", flush=True)
        operator.stop()
        print((Path(folder) / "log").read_text()[-2000:])
    return 0


def create(plane: RunningPlane, operator: Operator, replicas: int) -> None:
    """Makes the set, and tells when its pods were there and ready, and what that took."""
    total, mark = replicas * PODS, plane.mark()
    plane.kubectl("apply", "-f", "-", input=json.dumps(pod_clique_set(replicas)))
    created = until(lambda: pods(plane) >= total)
    ready = created + until(lambda: are_ready(plane, replicas))
    until_created = _until_last_pod(writes(plane, mark))
    print(f"created {created:.1f} s, {until_created / total:.2f} writes a pod; ready {ready:.1f} s; {operator.usage()}", flush=True)
    settle(plane)
    done = writes(plane, mark)
    print(f"settled: {len(done) / total:.2f} writes a pod; {operator.usage()}; {told(done)}{events(plane)}", flush=True)


def _until_last_pod(done: Requests) -> int:
    """How many writes there were up to the one that made the last pod."""
    return max(number for number, one in enumerate(done, 1) if (one.verb, one.resource) == ("create", "pods"))


def rescale(plane: RunningPlane, replicas: int) -> None:
    """Scales the set, and tells when its pods are as many as they should be, and what that took."""
    mark, costs, before = plane.mark(), ServerCosts(plane), pods(plane)
    scale(plane, replicas)
    took = until(lambda: are_ready(plane, replicas))
    used = costs.of_each(abs(before - replicas * PODS))
    settle(plane)
    done = writes(plane, mark)
    print(f"to {replicas}: {took:.1f} s, {used}; {len(done)} writes: {told(done)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
