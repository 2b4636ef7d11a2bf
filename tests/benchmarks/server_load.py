"""Puts a server under load over HTTPS: it has a process and a core to itself, the asker another core. Says what that came to."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.benchmarks.measure import ENVIRONMENT, ROOT, cpu_seconds, table
from tests.benchmarks.open_loop import Asked, ask, p99

GROWTH = 2.0
"""MB that the server may grow by: allocators keep some pages more or fewer, and a leak of a kilobyte an answer is more than 10."""
LATE = 1.0
"""Milliseconds by which the asker is late itself with 99 of 100 questions at most; else it has measured itself."""

Verdict = tuple[str, bool]
"""What has to be true, and whether it is."""


class Load(NamedTuple):
    """A server under load: its answers, its memory in MB before and after, and its milliseconds of CPU an answer."""

    asked: Asked
    before: float
    after: float
    cpu: float


class Loading(NamedTuple):
    """So many questions a second for so many seconds, once the server has answered `warm_up` of them.

    `module` is the program of the servers: its arguments are one of their names and a core, and it prints the port.
    """

    module: str
    rate: int
    seconds: float
    warm_up: int

    def put(self, which: str, questions: Callable[[int], Sequence[bytes]], expected: bytes, seconds: float = 0.0) -> Load:
        """Lets one of the servers answer. `questions` gives those for a number of them; each answer has to hold the `expected` bytes."""
        total = int(self.rate * (seconds or self.seconds))
        with serving(self.module, which) as (port, pid):
            ask(port, questions(self.warm_up), self.rate, self.warm_up, expected)
            before, used = memory(pid), cpu_seconds(pid)
            answers = ask(port, questions(total), self.rate, total, expected)
            return Load(answers, before, memory(pid), (cpu_seconds(pid) - used) * 1000 / total)

    def table(self, loads: dict[str, Load]) -> str:
        """What the loads came to, a line each."""
        header = [f"{self.rate}/s for {self.seconds:g} s", "median ms", "p99 ms", "longest ms", "ms of CPU an answer"]
        return table([*header, "asker late, p99 ms", "MB before", "MB after"], [_figures(*one) for one in loads.items()])


@contextmanager
def serving(module: str, which: str) -> Iterator[tuple[int, int]]:
    """A server in a process and on a core of its own: port and process id."""
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-m", module, which, str(cores[0])]
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        os.sched_setaffinity(0, cores[1:] or cores)
        yield int(process.stdout.readline()), process.pid
    finally:
        os.sched_setaffinity(0, cores)
        process.terminate()
        process.wait()


def memory(pid: int) -> float:
    """The resident memory of a process."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def milliseconds(answer: Callable[[Any], Any], body: bytes, rounds: int) -> list[float]:
    """The CPU time of each answer without a server, from bytes to bytes, the quickest first."""
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        json.dumps(answer(json.loads(body)))
        taken.append((time.process_time() - began) * 1000)
    return sorted(taken)


def review_table(what: str, costs: dict[str, list[float]]) -> str:
    """Median and p99 of `milliseconds`, a line for each kind of review."""
    rows = [[kind, f"{statistics.median(taken):.2f}", f"{p99(taken):.2f}"] for kind, taken in costs.items()]
    return table([what, "median ms of CPU", "p99 ms of CPU"], rows)


def verdicts(what: str, one: Load, goal: float) -> list[Verdict]:
    """What has to be true of a load of ours; `goal` is the milliseconds that 99 of 100 answers take at most."""
    slow, growth, late = p99(one.asked.taken), one.after - one.before, p99(one.asked.late)
    return [
        (f"{what}: p99 of {slow:.2f} ms is under {goal:g} ms", slow < goal),
        (f"{what}: memory grew by {growth:.1f} MB over {len(one.asked.taken):,} answers, at most {GROWTH:g}", growth <= GROWTH),
        (f"{what}: the asker was late by {late:.2f} ms itself (p99), at most {LATE:g}", late <= LATE),
    ]


def conclude(found: Sequence[Verdict]) -> int:
    """Prints the verdicts, and gives the exit code."""
    for what, holds in found:
        print(f"{'pass' if holds else 'FAIL'}: {what}")
    return int(not all(holds for _, holds in found))


def _figures(what: str, one: Load) -> list[str]:
    taken, late = one.asked
    numbers = [statistics.median(taken), p99(taken), taken[-1], one.cpu, p99(late)]
    return [what, *(f"{number:.2f}" for number in numbers), f"{one.before:.1f}", f"{one.after:.1f}"]
