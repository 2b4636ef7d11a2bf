"""What an answer to an API server costs: `python -m tests.benchmarks.admission [SECONDS]`.

CPU time of a review without HTTPS; then 200 reviews a second over HTTPS, beside a handler of the same library that reads the JSON and lets
everything pass. The server has one core to itself, where the machine has two.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

import aiohttp
from aiohttp import web

from grove_compiler.compile import VOCABULARY
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import Context
from grove_operator import rulebook
from grove_operator.cli.operator.run import COLLECT_AFTER
from grove_operator.install.webhook_configurations import VALIDATE_SETS
from grove_operator.webhooks import authority
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.certificate import ShownCertificate
from grove_operator.webhooks.effects import Foresight
from grove_operator.webhooks.review import Judge
from grove_operator.webhooks.server import Answer, WebhookServer
from tests.benchmarks.measure import ENVIRONMENT, ROOT, machine, table
from tests.webhooks.conftest import asked

CLIQUES, VARIABLES = 20, 10
ROUNDS = 400
GOAL = 10.0
"""Milliseconds that 99 of 100 answers take at most."""
RATE, SECONDS, CONNECTIONS = 200, 15, 8
LARGE = 3_000_000
"""Bytes of the largest object that an API server takes."""


def workload(variables: int = VARIABLES) -> dict[str, Any]:
    """A set of 20 cliques, each with so many variables."""
    env = [{"name": f"OPTION_{index}", "value": "x"} for index in range(variables)]
    pod_spec = {"containers": [{"name": "engine", "image": "engine:1", "env": env}]}
    cliques = [{"name": f"c{index}", "spec": {"roleName": f"c{index}", "replicas": 2, "podSpec": pod_spec}} for index in range(CLIQUES)]
    metadata = {"name": "chat", "namespace": "team"}
    spec = {"replicas": 1, "template": {"cliques": cliques}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def the_judge() -> Judge:
    return Judge(Context(rulebook.read().program(VOCABULARY), Settings()), None, ObjectList([]), Foresight())


def milliseconds(judge: Judge, body: bytes) -> list[float]:
    """What each answer took, from bytes to bytes, the quickest first."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        json.dumps(judge.validate(json.loads(body)))
        taken.append((time.process_time() - began) * 1000)
    return sorted(taken)


async def serve(which: str) -> None:
    """Serves until killed, and prints the port."""
    judge = the_judge()
    await serve_answers(which, Answers(lambda: judge).by_path(), VALIDATE_SETS.path)


async def serve_answers(which: str, answers: Mapping[str, Answer], path: str) -> None:
    """Serves these answers, or those of the bare handler, until killed, and prints the port."""
    gc.set_threshold(COLLECT_AFTER, 20, 100)
    now = datetime.now(UTC)
    pair = authority.sign(authority.make_authority(now), ["localhost"], now)
    shown = ShownCertificate()
    shown.show(pair.certificate, pair.key)
    port = await WebhookServer(answers, shown.tls, print).start("127.0.0.1", 0) if which == "ours" else await bare(shown.tls, path)
    print(port, flush=True)
    await asyncio.Event().wait()


async def bare(tls: ssl.SSLContext, path: str) -> int:
    """The least that an admission server can do with this library."""

    async def allow(request: web.Request) -> web.Response:
        review = json.loads(await request.read())
        response = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})

    application = web.Application(client_max_size=16 << 20)
    application.router.add_post(path, allow)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    port: int = runner.addresses[0][1]
    return port


class Load(NamedTuple):
    """Milliseconds of each answer, the quickest first, the server's memory in MB before and after, and its seconds of CPU."""

    taken: list[float]
    before: float
    after: float
    cpu: float


class Asked(NamedTuple):
    """Who is asked, where, and how often a second."""

    module: str
    path: str
    rate: int


SETS = Asked("tests.benchmarks.admission", VALIDATE_SETS.path, RATE)


@asynccontextmanager
async def server(which: str, asked: Asked = SETS) -> AsyncIterator[tuple[str, int]]:
    """A server in a process of its own: URL and process id."""
    command = [sys.executable, "-m", asked.module, "serve", which]
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        port = int(await asyncio.to_thread(process.stdout.readline))
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(process.pid, cores[:1])
        os.sched_setaffinity(0, cores[1:] or cores)
        yield f"https://localhost:{port}{asked.path}", process.pid
        os.sched_setaffinity(0, cores)
    finally:
        process.terminate()
        process.wait()


async def load(which: str, body: bytes, seconds: float, asked: Asked = SETS) -> Load:
    """Sends so many reviews a second, each at its time, whether others are answered or not."""
    async with server(which, asked) as (url, pid), client() as session:
        taken: list[float] = []

        async def ask() -> None:
            began = time.perf_counter()
            async with session.post(url, data=body) as answer:
                assert (await answer.json())["response"]["allowed"]
            taken.append((time.perf_counter() - began) * 1000)

        await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
        taken.clear()
        before, used, start = memory(pid), cpu_seconds(pid), time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for number in range(int(asked.rate * seconds)):
                await asyncio.sleep(max(0.0, start + number / asked.rate - time.perf_counter()))
                tasks.create_task(ask())
        return Load(sorted(taken), before, memory(pid), cpu_seconds(pid) - used)


async def large() -> str:
    """What becomes of the largest set that an API server takes, in words."""
    variables = LARGE // (CLIQUES * len('{"name": "OPTION_1000", "value": "x"}, '))
    body = json.dumps(asked("CREATE", workload(variables))).encode()
    async with server("ours") as (url, _), client() as session:
        began = time.perf_counter()
        async with session.post(url, data=body) as answer:
            text = await answer.text()
        seconds = time.perf_counter() - began
    allowed = answer.status == 200 and json.loads(text)["response"]["allowed"]
    return f"{len(body):,} bytes: {answer.status}, {'allowed' if allowed else 'refused'}, {seconds:.1f} s"


def client() -> aiohttp.ClientSession:
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls, limit=CONNECTIONS))


def memory(pid: int) -> float:
    """The resident memory of a process."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """What a process has computed since it began."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(seconds: float) -> int:
    body = json.dumps(asked("CREATE", workload())).encode()
    taken = milliseconds(the_judge(), body)
    print(f"{machine()}\n")
    row = [str(len(body)), f"{statistics.median(taken):.2f}", f"{taken[ROUNDS * 99 // 100]:.2f}"]
    print(table(["bytes", "median ms of CPU", "p99 ms of CPU"], [row]), end="\n\n")
    loads = {which: asyncio.run(load(which, body, seconds)) for which in ("bare", "ours")}
    rows = [[which, *_figures(one)] for which, one in loads.items()]
    print(table([f"{RATE}/s over HTTPS for {seconds:g} s", "median ms", "p99 ms", "MB before", "MB after"], rows), end="\n\n")
    print(asyncio.run(large()))
    return int(_p99(loads["ours"].taken) > GOAL)


def _figures(one: Load) -> list[str]:
    return [f"{statistics.median(one.taken):.2f}", f"{_p99(one.taken):.2f}", f"{one.before:.0f}", f"{one.after:.0f}"]


def _p99(taken: list[float]) -> float:
    return taken[len(taken) * 99 // 100]


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(sys.argv[2]))
    else:
        raise SystemExit(main(float(sys.argv[1]) if sys.argv[1:] else SECONDS))
