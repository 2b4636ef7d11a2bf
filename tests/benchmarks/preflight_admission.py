"""What it costs to put checks into pods: `python -m tests.benchmarks.preflight_admission [SECONDS]`. Ends with 1 where a goal is missed.

CPU time of a review without HTTPS; then 500 pods a second over HTTPS, whether they are answered or not, each answer timed from when its
question was due. The server has one core to itself and the asker another. Beside ours, in the same run: a handler of the same HTTP library
that lets everything pass, and kopf's admission server. On a busy machine only the CPU times tell anything.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from grove_compiler.model.inputs.snapshot import ObjectList
from grove_operator.preflight.injector import MUTATE_PODS, Injector
from tests.benchmarks.admission import cpu_seconds, memory
from tests.benchmarks.measure import ENVIRONMENT, ROOT, machine, table
from tests.benchmarks.open_loop import Asked, ask, p99, request
from tests.benchmarks.preflight_servers import DEVICES, SERVERS, pod, review, the_values
from tests.shipped import program

ROUNDS = 2000
RATE, SECONDS = 500, 30
WARM_UP = 2500
"""Questions before the measured ones: as many as it takes until memory and caches are what they stay."""
GOAL = 5.0
"""Milliseconds that 99 of 100 answers of ours take at most."""
GROWTH = 2.0
"""MB that the server may grow by: allocators keep some pages more or fewer, and a leak of a kilobyte an answer is 15."""
LATE = 1.0
"""Milliseconds by which the asker is late itself with 99 of 100 questions at most; else it has measured itself."""
DIFFERENT = 512
"""Pods that are asked about in turn."""


class Load(NamedTuple):
    """A server under load: its answers, its memory in MB before and after, and its milliseconds of CPU an answer."""

    asked: Asked
    before: float
    after: float
    cpu: float


def milliseconds(body: bytes) -> list[float]:
    """The CPU time of each answer, from bytes to bytes, the quickest first."""
    injector, taken = Injector(the_values(), program(), ObjectList()), []
    for _ in range(ROUNDS):
        began = time.process_time()
        json.dumps(injector.review(json.loads(body)))
        taken.append((time.process_time() - began) * 1000)
    return sorted(taken)


@contextmanager
def server(which: str) -> Iterator[tuple[int, int]]:
    """A server in a process and on a core of its own: port and process id."""
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "tests.benchmarks.preflight_servers", which, str(cores[0])]
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        os.sched_setaffinity(0, cores[1:] or cores)
        yield int(process.stdout.readline()), process.pid
    finally:
        os.sched_setaffinity(0, cores)
        process.terminate()
        process.wait()


def load(which: str, seconds: float) -> Load:
    """Lets a server answer so many seconds long, once it is warm."""
    requests = [request(MUTATE_PODS, review(pod(number, DEVICES))) for number in range(DIFFERENT)]
    expected = b'"allowed": true' if which == "bare" else b'"patch": "'
    with server(which) as (port, pid):
        ask(port, requests, RATE, WARM_UP, expected)
        before, used, total = memory(pid), cpu_seconds(pid), int(RATE * seconds)
        asked = ask(port, requests, RATE, total, expected)
        return Load(asked, before, memory(pid), (cpu_seconds(pid) - used) * 1000 / total)


def figures(which: str, one: Load) -> list[str]:
    taken, late = one.asked
    numbers = [statistics.median(taken), p99(taken), taken[-1], one.cpu, p99(late)]
    return [which, *(f"{number:.2f}" for number in numbers), f"{one.before:.1f}", f"{one.after:.1f}"]


def verdicts(ours: Load) -> list[tuple[str, bool]]:
    """What has to be true, and whether it is."""
    slow, growth, late = p99(ours.asked.taken), ours.after - ours.before, p99(ours.asked.late)
    return [
        (f"p99 of {slow:.2f} ms is under {GOAL:g} ms", slow < GOAL),
        (f"memory grew by {growth:.1f} MB over {len(ours.asked.taken):,} answers, at most {GROWTH:g}", growth <= GROWTH),
        (f"the asker was late by {late:.2f} ms itself (p99), at most {LATE:g}", late <= LATE),
    ]


def main(seconds: float) -> int:
    print(f"{machine()}\n")
    kinds = {"a pod of a gang, three checks": DEVICES, "a pod without GPUs": {"cpu": 1}}
    costs = {what: milliseconds(review(pod(0, devices))) for what, devices in kinds.items()}
    rows = [[what, f"{statistics.median(taken):.2f}", f"{p99(taken):.2f}"] for what, taken in costs.items()]
    print(table(["a review of", "median ms of CPU", "p99 ms of CPU"], rows), end="\n\n")
    loads = {which: load(which, seconds) for which in SERVERS}
    header = [f"{RATE}/s for {seconds:g} s", "median ms", "p99 ms", "longest ms", "ms of CPU an answer"]
    rows = [figures(which, one) for which, one in loads.items()]
    print(table([*header, "asker late, p99 ms", "MB before", "MB after"], rows), end="\n\n")
    told = verdicts(loads["ours"])
    for what, holds in told:
        print(f"{'pass' if holds else 'FAIL'}: {what}")
    return int(not all(holds for _, holds in told))


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]) if sys.argv[1:] else SECONDS))
