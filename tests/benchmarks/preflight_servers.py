"""Serves admission of pods in three ways, to be measured side by side: `python -m tests.benchmarks.preflight_servers WHICH CORE`.

`ours` is what `grove preflight controller` runs, over a cluster in memory with a thousand nodes and as many pods that have checks. `bare`
is the least that the same HTTP library can do: it reads the JSON and lets everything pass. `kopf` is kopf's admission server with one
handler, which gives every pod an init container. Each prints its port once it is ready, and has one core.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import ssl
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from aiohttp import web

from applier.testing.memory import MemoryCluster
from applier.transport import Terminated, run
from grove_compiler.graph.node import Manifest
from grove_compiler.model.preflight.values import Preflight
from grove_operator.preflight.process import MUTATE_PODS
from grove_operator.webhooks import authority
from tests.preflight.injecting import inject_pod, values_of
from tests.shipped import program

CHECKS = ("dcgm-diag", "nccl-loopback", "nccl-allreduce")
METHOD = {"method": "labels", "labels": {"gangIdLabel": "gang", "gangSizeLabel": "size"}}
VALUES: dict[str, Any] = {"checks": [{"name": name, "image": "i"} for name in CHECKS], "gangDiscovery": METHOD}
DEVICES = {"nvidia.com/gpu": 8, "nvidia.com/mlnxnics": 8}
GANG = 64
IN_CLUSTER = 1000


def pod(number: int, devices: dict[str, int]) -> Manifest:
    """One of many pods of gangs of 64, with twenty variables, as its owner creates it."""
    env = [{"name": f"OPTION_{index}", "value": "x"} for index in range(20)]
    spec = {"containers": [{"name": "main", "image": "m", "env": env, "resources": {"limits": devices}}]}
    labels = {"gang": f"gang-{number // GANG}", "size": str(GANG)}
    metadata = {"name": f"worker-{number}", "namespace": "training", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def review(made: Manifest) -> bytes:
    """What an API server asks before it takes a pod."""
    kind, resource = {"group": "", "version": "v1", "kind": "Pod"}, {"group": "", "version": "v1", "resource": "pods"}
    request = {"uid": made["metadata"]["name"], "kind": kind, "resource": resource, "operation": "CREATE", "namespace": "training"}
    request |= {"object": made, "oldObject": None, "dryRun": False, "userInfo": {"username": "system:kube-controller-manager"}}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


def the_values() -> Preflight:
    return values_of(VALUES)


def the_cluster() -> MemoryCluster:
    """A cluster whose pods have their checks already."""
    cluster = MemoryCluster(namespaces=("default", "training"))
    cluster.seed(*({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}"}} for number in range(IN_CLUSTER)))
    cluster.seed(*(inject_pod(pod(number, DEVICES), VALUES).injected for number in range(IN_CLUSTER)))
    return cluster


async def ours(folder: Path) -> None:
    from prometheus_client import CollectorRegistry

    from applier.cache import WatchCache
    from applier.stop import Stop
    from grove_cli.garbage import collect_in_small_portions, freeze_existing
    from grove_operator.preflight.gangs import WATCHED, GangController
    from grove_operator.preflight.metrics import AdmissionMetrics, CheckMetrics
    from grove_operator.preflight.process import Served, serve
    from grove_operator.webhooks.service import Serving

    collect_in_small_portions()  # as the command does
    freeze_existing()
    ports: list[str] = []

    def tell(text: str) -> None:
        if text.startswith("listening"):
            ports.append(text.rpartition(" ")[2])
        if text == "ready":
            print(ports[0], flush=True)

    cluster, registry = the_cluster(), CollectorRegistry()
    controller = GangController(cluster, the_values(), program(), WatchCache(cluster, WATCHED))
    webhook = Serving("127.0.0.1", 0, str(folder), "nvsentinel", "", "")
    served = Served(webhook, answered=AdmissionMetrics(registry).answered, on_change=CheckMetrics(registry, lambda: 0.0))
    await serve(cluster, controller, the_values(), program(), served, Stop(), tell)


async def bare(folder: Path) -> None:
    async def allow(request: web.Request) -> web.Response:
        asked = json.loads(await request.read())
        response = {"uid": asked["request"]["uid"], "allowed": True}
        return web.json_response({"apiVersion": asked["apiVersion"], "kind": asked["kind"], "response": response})

    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    application = web.Application()
    application.router.add_post(MUTATE_PODS, allow)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def by_kopf(folder: Path) -> None:
    """What `kopf run` starts for handlers of admission, without the watches that would need an API server."""
    kopf: Any = import_module("kopf")  # of the extra `bench`; some of what it puts together is not in its own namespace
    references: Any = import_module("kopf._cogs.structs.references")
    registry = kopf.OperatorRegistry()

    def add_check(patch: Any, **_: Any) -> None:
        patch.spec["initContainers"] = [{"name": "preflight-dcgm-diag", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8}}}]

    kopf.on.mutate("v1", "pods", id="mutate-pod", registry=registry)(add_check)
    pods = references.Resource("", "v1", "pods", kind="Pod", namespaced=True, preferred=True, verbs=frozenset({"create"}))
    insights = references.Insights()
    insights.webhook_resources.add(pods)
    answer = functools.partial(
        import_module("kopf._core.engines.admission").serve_admission_request,
        settings=kopf.OperatorSettings(),
        memories=import_module("kopf._core.reactor.inventory").ResourceMemories(),
        memobase=import_module("kopf._cogs.structs.ephemera").Memo(),
        registry=registry,
        insights=insights,
        indices=import_module("kopf._core.engines.indexing").OperatorIndexers().indices,
    )
    server = kopf.WebhookServer(addr="127.0.0.1", certfile=folder / "tls.crt", pkeyfile=folder / "tls.key", host="localhost")
    async for client_config in server(answer):
        print(client_config["url"].rpartition(":")[2], flush=True)


SERVERS = {"bare": bare, "kopf": by_kopf, "ours": ours}


def certificates(folder: Path) -> None:
    now = datetime.now(UTC)
    pair = authority.sign(authority.make_authority(now), ["localhost"], now)
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(pair.key)


def main(which: str, core: int) -> None:
    os.sched_setaffinity(0, {core})
    with tempfile.TemporaryDirectory() as folder:
        certificates(Path(folder))
        with suppress(Terminated):
            run(SERVERS[which](Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
