"""What an answer to an API server costs: `python -m tests.benchmarks.admission [SECONDS]`. Ends with 1 where a goal is missed.

CPU time of a review without HTTPS; then 200 reviews a second over HTTPS, whether they are answered or not, each answer timed from when its
question was due, beside a handler of the same HTTP library that lets everything pass. The server has one core to itself and the asker
another. At last the largest set that an API server takes. On a busy machine only the CPU times tell anything.

No set is asked about twice, and no two cliques are the same, so nothing of a new set is known from others; in an edit 19 of 20 cliques are
as they were.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, overload

from grove_operator.install.webhook_configurations import DEFAULT_SETS, VALIDATE_SETS
from tests.benchmarks.admission_servers import the_judge
from tests.benchmarks.measure import ENVIRONMENT, ROOT, machine, table
from tests.benchmarks.open_loop import Asked, ask, p99, request
from tests.webhooks.conftest import asked

CLIQUES, VARIABLES = 20, 10
ROUNDS = 400
GOAL = 10.0
"""Milliseconds that 99 of 100 answers take at most."""
RATE, SECONDS = 200, 100
WARM_UP = 1000
"""Questions before the measured ones: as many as it takes until memory is what it stays."""
GROWTH = 2.0
"""MB that the server may grow by: allocators keep some pages more or fewer, and a leak of a kilobyte an answer is 20."""
LATE = 1.0
"""Milliseconds by which the asker is late itself with 99 of 100 questions at most; else it has measured itself."""
LARGE = 3_000_000
"""Bytes of the largest object that an API server takes."""
NUMBER = "00000"
"""Stands in a set for its number, as often as something of it is its own."""

Manifest = dict[str, Any]


def workload(variables: int = VARIABLES) -> Manifest:
    """A set of 20 cliques, each with so many variables. No two cliques are the same, nor are those of two sets."""
    cliques = []
    for index in range(CLIQUES):
        env = [{"name": f"OPTION_{number}", "value": f"{NUMBER}-{index}-{number}"} for number in range(variables)]
        pod_spec = {"containers": [{"name": "engine", "image": f"engine-{index}:1.{NUMBER}", "env": env}]}
        cliques.append({"name": f"c{index}", "spec": {"roleName": f"c{index}", "replicas": 2, "podSpec": pod_spec}})
    metadata = {"name": f"chat-{NUMBER}", "namespace": "team"}
    spec = {"replicas": 1, "template": {"cliques": cliques}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def edited(set: Manifest) -> Manifest:
    """The same set with a new image in one of its cliques."""
    changed: Manifest = json.loads(json.dumps(set))
    changed["spec"]["template"]["cliques"][3]["spec"]["podSpec"]["containers"][0]["image"] = f"engine-3:2.{NUMBER}"
    return changed


CREATE = json.dumps(asked("CREATE", workload())).encode()
EDIT = json.dumps(asked("UPDATE", edited(workload()), workload())).encode()
LOADS = {
    "new sets: validated": [request(VALIDATE_SETS.path, CREATE)],
    "new sets: defaulted, and validated": [request(DEFAULT_SETS.path, CREATE), request(VALIDATE_SETS.path, CREATE)],
    "edits of sets: defaulted, and validated": [request(DEFAULT_SETS.path, EDIT), request(VALIDATE_SETS.path, EDIT)],
}
"""What is asked about each set."""


class Questions(Sequence[bytes]):
    """These requests about one set after the other, so many in all, made when they are sent."""

    def __init__(self, kinds: Sequence[bytes], total: int) -> None:
        self._kinds, self._total = kinds, total

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[each] for each in range(self._total)[index]]
        number, kind = divmod(index, len(self._kinds))
        return self._kinds[kind].replace(NUMBER.encode(), b"%05d" % number)


class Load(NamedTuple):
    """A server under load: its answers, its memory in MB before and after, and its milliseconds of CPU an answer."""

    asked: Asked
    before: float
    after: float
    cpu: float


def milliseconds(answer: Callable[[Any], Manifest], body: bytes) -> list[float]:
    """The CPU time of each answer, from bytes to bytes, the quickest first."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        json.dumps(answer(json.loads(body)))
        taken.append((time.process_time() - began) * 1000)
    return sorted(taken)


@contextmanager
def server(which: str) -> Iterator[tuple[int, int]]:
    """A server in a process and on a core of its own: port and process id."""
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "tests.benchmarks.admission_servers", which, str(cores[0])]
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        os.sched_setaffinity(0, cores[1:] or cores)
        yield int(process.stdout.readline()), process.pid
    finally:
        os.sched_setaffinity(0, cores)
        process.terminate()
        process.wait()


def load(which: str, kinds: Sequence[bytes], seconds: float) -> Load:
    """Lets a server answer so many seconds long, once it is warm."""
    with server(which) as (port, pid):
        ask(port, Questions(kinds, WARM_UP), RATE, WARM_UP, b'"allowed": true')
        before, used, total = memory(pid), cpu_seconds(pid), int(RATE * seconds)
        answers = ask(port, Questions(kinds, total), RATE, total, b'"allowed": true')
        return Load(answers, before, memory(pid), (cpu_seconds(pid) - used) * 1000 / total)


def large() -> tuple[str, bool]:
    """What becomes of the largest set that an API server takes, in words; and whether it is a clean answer."""
    variables = LARGE // (CLIQUES * len('{"name": "OPTION_1000", "value": "00000-10-1000"}, '))
    body = json.dumps(asked("CREATE", workload(variables))).encode()
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    with server("ours") as (port, _):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=tls)
        began = time.perf_counter()
        connection.request("POST", VALIDATE_SETS.path, body)
        answer = connection.getresponse()
        text = answer.read()
        seconds = time.perf_counter() - began
    response = json.loads(text)["response"] if answer.status == 200 else {}
    verdict = "allowed" if response.get("allowed") else "refused"
    return f"a set of {len(body):,} bytes is {verdict} by an answer {answer.status} after {seconds:.1f} s", "allowed" in response


def memory(pid: int) -> float:
    """The resident memory of a process."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """What a process has computed since it began."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def figures(what: str, one: Load) -> list[str]:
    taken, late = one.asked
    numbers = [statistics.median(taken), p99(taken), taken[-1], one.cpu, p99(late)]
    return [what, *(f"{number:.2f}" for number in numbers), f"{one.before:.1f}", f"{one.after:.1f}"]


def verdicts(what: str, one: Load) -> list[tuple[str, bool]]:
    """What has to be true of a load of ours, and whether it is."""
    slow, growth, late = p99(one.asked.taken), one.after - one.before, p99(one.asked.late)
    return [
        (f"{what}: p99 of {slow:.2f} ms is under {GOAL:g} ms", slow < GOAL),
        (f"{what}: memory grew by {growth:.1f} MB over {len(one.asked.taken):,} answers, at most {GROWTH:g}", growth <= GROWTH),
        (f"{what}: the asker was late by {late:.2f} ms itself (p99), at most {LATE:g}", late <= LATE),
    ]


def main(seconds: float) -> int:
    print(f"{machine()}\n")
    judge = the_judge()
    costs = {
        "validation of a new set": milliseconds(judge.validate, CREATE),
        "defaults of a new set": milliseconds(judge.default, CREATE),
        "validation of an edit, and now and then what it does": milliseconds(judge.validate, EDIT),
    }
    rows = [[what, f"{statistics.median(taken):.2f}", f"{p99(taken):.2f}"] for what, taken in costs.items()]
    print(table([f"20 cliques, {len(CREATE):,} bytes", "median ms of CPU", "p99 ms of CPU"], rows), end="\n\n")
    loads = {what: load("ours", kinds, seconds) for what, kinds in LOADS.items()}
    beside = {f"bare: {what}": load("bare", kinds, seconds / 4) for what, kinds in LOADS.items()}
    header = [f"{RATE}/s for {seconds:g} s", "median ms", "p99 ms", "longest ms", "ms of CPU an answer"]
    print(table([*header, "asker late, p99 ms", "MB before", "MB after"], [figures(*one) for one in (loads | beside).items()]), end="\n\n")
    told = [verdict for one in loads.items() for verdict in verdicts(*one)] + [large()]
    for what, holds in told:
        print(f"{'pass' if holds else 'FAIL'}: {what}")
    return int(not all(holds for _, holds in told))


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]) if sys.argv[1:] else SECONDS))
