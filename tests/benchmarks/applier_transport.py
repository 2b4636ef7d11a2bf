"""How many applies a second a client can send, how long a list takes, and what starting costs; next to other clients.

    python -m tests.benchmarks.applier_transport [OBJECTS]

The server is a trivial one in a process of its own that answers at once, so that what is measured is the client: its wall time is
mostly its own CPU time, and CPU time is what to compare on a busy machine. Each client runs in a fresh process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from aiohttp import web

IN_FLIGHT = 16
CONTAINER = {"name": "main", "image": "registry.example/app:1", "env": [{"name": f"VALUE_{n}", "value": "x" * 20} for n in range(24)]}


def pod(number: int) -> dict[str, Any]:
    """About 2 KB."""
    metadata = {"name": f"pod-{number:05}", "namespace": "default", "labels": {"app": "bench"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [CONTAINER]}}


async def serve(count: int, ready: Any) -> None:
    """Answers an apply with what was sent, and a list with as many pods."""
    listed = json.dumps(
        {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": [pod(n) for n in range(count)]}
    )

    async def echo(request: web.Request) -> web.Response:
        return web.Response(body=await request.read(), content_type="application/json")

    async def listing(request: web.Request) -> web.Response:
        return web.Response(text=listed, content_type="application/json")

    app = web.Application()
    app.router.add_get("/api/v1/namespaces/default/pods", listing)
    app.router.add_patch("/api/v1/namespaces/default/pods/{name}", echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    ready.send(runner.addresses[0][1])
    await asyncio.Event().wait()


def server_process(count: int, ready: Any) -> None:
    from applier.transport import run

    run(serve(count, ready))


def ours(url: str, count: int) -> tuple[float, float]:
    from applier.transport import run

    return run(_ours(url, count))


def ours_without_uvloop(url: str, count: int) -> tuple[float, float]:
    return asyncio.run(_ours(url, count))


async def _ours(url: str, count: int) -> tuple[float, float]:
    from applier.cluster import Resource
    from applier.ref import Kind
    from tests.connecting import connect_to

    pods = Resource(Kind("", "v1", "Pod"), "pods", True)
    manifests = iter([pod(number) for number in range(count)])
    async with connect_to(url) as cluster:

        async def worker() -> None:
            for manifest in manifests:
                await cluster.apply(pods, manifest, manager="bench")

        start = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
        applied = time.perf_counter() - start
        start = time.perf_counter()
        await cluster.list(pods, "default")
        return applied, time.perf_counter() - start


def kubernetes_sync(url: str, count: int) -> tuple[float, float]:
    from kubernetes import client

    configuration = client.Configuration(host=url)
    configuration.connection_pool_maxsize = IN_FLIGHT
    api = client.CoreV1Api(client.ApiClient(configuration))

    def apply(number: int) -> None:
        name = f"pod-{number:05}"
        api.patch_namespaced_pod(
            name, "default", pod(number), field_manager="bench", force=True, _content_type="application/apply-patch+yaml"
        )

    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        start = time.perf_counter()
        list(pool.map(apply, range(count)))
        applied = time.perf_counter() - start
    start = time.perf_counter()
    api.list_namespaced_pod("default")
    return applied, time.perf_counter() - start


def lightkube(url: str, count: int) -> tuple[float, float]:
    return asyncio.run(_lightkube(url, count))


async def _lightkube(url: str, count: int) -> tuple[float, float]:
    from lightkube import AsyncClient, KubeConfig  # type: ignore[import-not-found, unused-ignore]
    from lightkube.config.models import Cluster, User  # type: ignore[import-not-found, unused-ignore]
    from lightkube.resources.core_v1 import Pod  # type: ignore[import-not-found, unused-ignore]

    server = KubeConfig.from_one(cluster=Cluster(server=url), user=User(), context_name="bench").get()
    client = AsyncClient(server, field_manager="bench")
    pods: Any = iter([Pod.from_dict(pod(number)) for number in range(count)])

    async def worker() -> None:
        for one in pods:
            await client.apply(one, force=True)

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    applied = time.perf_counter() - start
    start = time.perf_counter()
    _ = [one async for one in client.list(Pod, namespace="default")]
    return applied, time.perf_counter() - start


CLIENTS: dict[str, Callable[[str, int], tuple[float, float]]] = {
    "ours (uvloop)": ours,
    "ours (asyncio)": ours_without_uvloop,
    "kubernetes sync, 16 threads": kubernetes_sync,
    "lightkube async": lightkube,
}


class Measured(NamedTuple):
    """Seconds of applying, of listing, of CPU in all; and the peak of memory in MiB."""

    applied: float
    listed: float
    cpu: float
    peak: float


def one_client(name: str, url: str, count: int, answer: Any) -> None:
    """Runs in a process of its own; sends what was measured, or why nothing was."""
    try:
        before = time.process_time()
        applied, listed = CLIENTS[name](url, count)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answer.send(Measured(applied, listed, time.process_time() - before, peak))
    except Exception as error:  # the other clients still count
        answer.send(f"left out: {error}")


IMPORTS = {
    "nothing": "pass",
    "aiohttp": "import aiohttp",
    "applier.http": "import applier.http",
    "applier.transport": "import applier.transport",
    "kubernetes": "from kubernetes import client, config",
    "lightkube": "from lightkube import Client",
}


def starts() -> None:
    """The best of five starts of a fresh interpreter for each import."""
    for name, code in IMPORTS.items():
        times = []
        for _ in range(5):
            start = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False)
            times.append(time.perf_counter() - start)
        print(f"{name:30} {min(times) * 1000:8.0f} ms" if done.returncode == 0 else f"{name:30} left out: not installed")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("objects", type=int, nargs="?", default=1000)
    count = parser.parse_args().objects
    spawn = multiprocessing.get_context("spawn")
    ours_end, theirs = spawn.Pipe()
    server = spawn.Process(target=server_process, args=(count, theirs), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours_end.recv()}"
    print(f"{count} pods, {IN_FLIGHT} in flight; best of 3")
    print(f"{'client':30} {'apply':>10} {'a second':>10} {'list':>10} {'CPU in all':>11} {'peak':>8}")
    for name in CLIENTS:
        rounds = []
        for _ in range(3):
            client = spawn.Process(target=one_client, args=(name, url, count, theirs))
            client.start()
            rounds.append(ours_end.recv())
            client.join()
        if isinstance(rounds[0], str):
            print(f"{name:30} {rounds[0]}")
            continue
        best = Measured(*(min(column) for column in zip(*rounds, strict=True)))
        speed = f"{best.applied * 1000:7.0f} ms {count / best.applied:10,.0f} {best.listed * 1000:7.0f} ms"
        print(f"{name:30} {speed} {best.cpu * 1000:8.0f} ms {best.peak:4.0f} MiB")
    server.terminate()
    print(f"\n{'start of an interpreter with':30}")
    starts()


if __name__ == "__main__":
    main()
