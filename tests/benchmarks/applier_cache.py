"""How fast the watch cache takes events in and answers, and how much memory an object takes.

`python -m tests.benchmarks.applier_cache [PODS]`

Rates are per second of CPU; looks are for the 50 pods of one clique. The server is left out: lines of a watch are parsed as the transport
parses them and go through the cache's own path.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import subprocess
import sys
import time
import timeit
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import orjson

from applier.cache import Query, WatchCache
from applier.cluster import Listing, Resource, WatchEvent
from applier.ref import Kind, Manifest

POD = Kind("", "v1", "Pod")
PODS_A_CLIQUE = 50


def pod(number: int, version: int, phase: str = "Running") -> dict[str, Any]:
    """A pod of an inference workload as a server shows it, 4 KB of JSON with its managedFields."""
    clique, index = divmod(number, PODS_A_CLIQUE)
    name = f"workload-{clique}-decode-{index}"
    env: list[Manifest] = [{"name": f"GROVE_{key}", "value": f"value-{key}-{clique}"} for key in range(12)]
    env.append({"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}})
    mounts = [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "token", "readOnly": True}]
    container = {
        "name": "engine",
        "image": "registry.example/engine:1.4.2",
        "args": ["serve", "--model", "/models/llama", "--tensor-parallel-size", "8"],
        "env": env,
        "ports": [
            {"containerPort": 8000, "name": "http", "protocol": "TCP"},
            {"containerPort": 9090, "name": "metrics", "protocol": "TCP"},
        ],
        "resources": {
            "limits": {"nvidia.com/gpu": "8", "memory": "512Gi"},
            "requests": {"cpu": "32", "memory": "512Gi", "nvidia.com/gpu": "8"},
        },
        "livenessProbe": {"httpGet": {"path": "/live", "port": "http", "scheme": "HTTP"}, "periodSeconds": 10, "failureThreshold": 3},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "volumeMounts": mounts,
    }
    labels = {"app.kubernetes.io/managed-by": "grove", "grove.io/podclique": f"workload-{clique}-decode", "grove.io/pod-index": str(index)}
    owner = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "name": f"workload-{clique}-decode",
        "uid": f"{clique:032x}",
        "controller": True,
    }
    stamp = "2026-11-21T12:00:00Z"
    conditions = [
        {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": stamp}
        for kind in ("Ready", "PodScheduled", "Initialized")
    ]
    started = {"running": {"startedAt": stamp}}
    status = {
        "name": "engine",
        "ready": True,
        "restartCount": 0,
        "containerID": f"containerd://{number:064x}",
        "state": started,
        "started": True,
    }
    fields: Manifest = {"f:spec": {"f:containers": {'k:{"name":"engine"}': {f"f:{key}": {".": {}} for key in container}}}}
    managed = [
        {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": stamp, "fieldsType": "FieldsV1", "fieldsV1": fields}
        for manager in ("operator", "kubelet")
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "serving",
            "uid": f"00000000-0000-4000-8000-{number:012d}",
            "resourceVersion": str(version),
            "generation": 1,
            "creationTimestamp": stamp,
            "labels": labels,
            "ownerReferences": [owner],
            "managedFields": managed,
        },
        "spec": {
            "containers": [container],
            "nodeName": f"node-{number // 4}",
            "hostname": name,
            "schedulerName": "kai-scheduler",
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "volumes": [
                {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]}}
            ],
        },
        "status": {
            "phase": phase,
            "podIP": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
            "conditions": conditions,
            "containerStatuses": [status],
        },
    }


def lines(count: int, first_version: int, type: str, phase: str) -> list[bytes]:
    """The lines of a watch, as they come over the wire."""
    return [orjson.dumps({"type": type, "object": pod(number, first_version + number, phase)}) for number in range(count)]


class Server:
    """Serves one watch: the state, then changes, from lines that are parsed one by one."""

    def __init__(self, state: list[bytes], changes: list[bytes]) -> None:
        self.state, self.changes = state, changes
        self.go = asyncio.Event()

    async def resource(self, kind: Kind) -> Resource:
        return Resource(kind, "pods", True)

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        raise NotImplementedError

    async def watch(
        self, resource: Resource, namespace: str = "", *, labels: str = "", resource_version: str = "", initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        for event in parsed(self.state):
            yield event
        yield WatchEvent("BOOKMARK", {"apiVersion": "v1", "kind": "Pod", "metadata": {"resourceVersion": "100000"}}, True)
        await self.go.wait()
        for event in parsed(self.changes):
            yield event
        await asyncio.Event().wait()


def parsed(lines: list[bytes]) -> Iterator[WatchEvent]:
    for line in lines:
        given = orjson.loads(line)
        yield WatchEvent(given["type"], given["object"])


def rss() -> int:
    """Bytes in memory now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


async def cached(count: int, managed: bool) -> dict[str, float]:
    state, changes = lines(count, 1, "ADDED", "Pending"), lines(count, 200_000, "MODIFIED", "Running")
    server: Any = Server(state, changes)
    gc.collect()
    before, began = rss(), time.process_time()
    cache = WatchCache(server, [Query(POD, "serving", managed=managed)])
    await cache.start()
    await cache.synced()
    synced = time.process_time() - began
    gc.collect()
    state_bytes = rss() - before
    last = orjson.loads(changes[-1])["object"]["metadata"]["resourceVersion"]
    done = asyncio.Event()
    cache.subscribe(lambda ref, old, new: done.set() if new and new["metadata"]["resourceVersion"] == last else None)
    began = time.process_time()
    server.go.set()
    await done.wait()
    changed = time.process_time() - began
    gc.collect()
    found = {
        "sync/s": count / synced,
        "events/s": count / changed,
        "bytes/object": state_bytes / count,
        "after changes": (rss() - before) / count,
    }
    await cache.stop()
    return found


async def looked_into(count: int) -> dict[str, float]:
    """Microseconds for the questions of one small set, of 50 pods, beside all the others."""
    server: Any = Server(lines(count + PODS_A_CLIQUE, 1, "ADDED", "Running"), [])
    cache = WatchCache(server, [Query(POD, "serving", managed=False)])
    await cache.start()
    await cache.synced()
    asked: dict[str, Callable[[], list[Any]]] = {
        "by_label, us": lambda: cache.by_label("", "Pod", "grove.io/podclique=workload-0-decode", "serving"),
        "two labels, us": lambda: cache.by_label(
            "", "Pod", "app.kubernetes.io/managed-by=grove,grove.io/podclique=workload-0-decode", "serving"
        ),
        "by_owner, us": lambda: cache.by_owner(f"{0:032x}"),
    }
    found = {}
    for name, ask in asked.items():
        assert len(ask()) == PODS_A_CLIQUE
        found[name] = min(timeit.repeat(ask, number=20, repeat=5)) / 20 * 1e6
    await cache.stop()
    return found


def plain(count: int) -> dict[str, float]:
    """The same lines, parsed and kept as they are."""
    state = lines(count, 1, "ADDED", "Pending")
    gc.collect()
    before, began = rss(), time.process_time()
    kept = {event.object["metadata"]["name"]: event.object for event in parsed(state)}
    took = time.process_time() - began
    gc.collect()
    return {"sync/s": count / took, "events/s": count / took, "bytes/object": (rss() - before) / len(kept), "after changes": float("nan")}


CASES: dict[str, Callable[[int], Any]] = {
    "parsed and kept": plain,
    "cache, managedFields": lambda count: asyncio.run(cached(count, True)),
    "cache": lambda count: asyncio.run(cached(count, False)),
    "looks, beside nothing": lambda _: asyncio.run(looked_into(0)),
    "looks, beside 40,000": lambda _: asyncio.run(looked_into(40_000)),
}


def main(count: int) -> None:
    print(f"{count} pods of {len(orjson.dumps(pod(7, 1)))} bytes of JSON, each case in a process of its own")
    for name in CASES:
        made = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.applier_cache", str(count), name], capture_output=True, text=True, check=True
        )
        found = json.loads(made.stdout)
        print(f"{name:24}" + "".join(f"{key:>16} {value:>9,.0f}" for key, value in found.items() if value == value))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    if len(sys.argv) > 2:
        print(json.dumps(CASES[sys.argv[2]](count)))
    else:
        main(count)
