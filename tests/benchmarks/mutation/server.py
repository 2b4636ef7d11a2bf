"""Collects the tests once, and forks a process for each mutant: `python -m tests.benchmarks.mutation.server JOB` in a workspace.

A process of its own imports pytest, the product and all tests for ten seconds; a fork of this one begins with its first test. It is forked
before any test has run, so that there are neither threads nor event loops, and nothing that tests have made. What happens is told on
standard output, a line of JSON each.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings

from grove_cli import rulebook
from tests.benchmarks.mutation.areas import NOT_COLLECTED
from tests.benchmarks.mutation.child import CACHE, Limits, fork, run_mutant, run_unchanged
from tests.benchmarks.mutation.code import REACHED, NoEffect
from tests.benchmarks.mutation.faults import Faults, Stillborn
from tests.benchmarks.mutation.mutant import ERROR, FOUND, STILLBORN, SURVIVED, Mutant
from tests.benchmarks.mutation.order import Cost, Order, chunks
from tests.benchmarks.mutation.processes import Ended, Processes


class Job(NamedTuple):
    """What a server is to do; `areas` are the folders of tests by name of area."""

    mutants: list[Mutant]
    areas: dict[str, list[str]]
    jobs: int
    budget: float

    @classmethod
    def load(cls, text: str) -> Job:
        """Reads a job."""
        data = json.loads(text)
        return cls([Mutant(*one) for one in data["mutants"]], data["areas"], data["jobs"], data["budget"])


class Server:
    """A plugin of pytest that runs tests for each mutant, instead of once."""

    def __init__(self, job: Job, root: Path, tell: Callable[..., None]) -> None:
        self._job, self._root, self._tell = job, root, tell
        self._processes = Processes(job.jobs)
        self._early = set[str]()
        self._read = rulebook._data
        rulebook._data = self._note_early

    def _note_early(self, path: str) -> bytes:
        """Notes which module of tests reads rules while it is collected: it would not see changed ones."""
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
            name = frame.f_code.co_filename
            if name.startswith(str(self._root / "tests")) and frame.f_code.co_name == "<module>" and "mutation" not in name:
                self._early.add(os.path.relpath(name, self._root))
                break
        return self._read(path)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tells of a module that cannot be collected."""
        if report.failed:
            self._tell(event="failed", tests={report.nodeid: report.longreprtext.strip()[-500:]})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Runs the unchanged product, then each mutant."""
        rulebook._data = self._read
        self._items = {item.nodeid: item for item in session.items}
        self._session = session
        if threading.active_count() > 1:
            raise RuntimeError(f"cannot fork, there are threads: {threading.enumerate()}")
        self._caches = Path(os.environ[CACHE])
        self._faults = Faults(self._root, self._job.mutants)
        self._tell(event="collected", tests=len(self._items), early=sorted(self._early))
        try:
            if order := self._unchanged():
                self._all_mutants(order)
        finally:
            self._processes.kill()
        return True

    def _unchanged(self) -> Order | None:
        """Runs all tests without a fault; returns what is known of them, or nothing if some failed."""
        costs, failures, reached = dict[str, Cost](), dict[str, str](), defaultdict[int, set[str]](set)

        def heard(line: dict[str, Any]) -> None:
            if "test" in line:
                costs[line["test"]] = Cost(line["cpu"], line["clock"])
                self._tell(event="unchanged", done=len(costs))
            for number in line.get("reached", ()):
                reached[number].add(line["by"])
            failures.update(line.get("failures", {}))

        for tests in chunks(self._items, self._job.jobs * 4):
            self._processes.wait_for_room()
            self._processes.start(*fork(partial(self._run_unchanged, tests), self._caches), heard, lambda _: None)
        self._processes.wait()
        lost = {test: "its process ended" for test in self._items if test not in costs and test not in failures}
        if failures or lost:
            self._tell(event="failed", tests=failures | lost)
            return None
        areas = {name: sum(costs[test].cpu for test in self._of(name)) for name in self._job.areas}
        self._tell(event="passed", areas=areas)
        self._limits = Limits(costs)
        return Order(costs, reached)

    def _run_unchanged(self, tests: list[str], tell: Callable[..., None]) -> None:
        """Runs in a fork: tests without a fault, which tell what statements they reach."""
        seen, current = set[int](), ""

        def reach(number: int) -> None:
            if number not in seen:
                seen.add(number)

        def begins(test: str) -> None:
            nonlocal current
            if seen:
                tell(by=current, reached=sorted(seen))
            seen.clear()
            current = test

        setattr(builtins, REACHED, reach)
        self._faults.forget()
        self._faults.instrument()
        run_unchanged(self._session, [self._items[test] for test in tests], begins, tell)
        begins("")

    def _of(self, area: str) -> list[str]:
        """Returns the tests of an area."""
        folders = tuple(f"{folder}/" for folder in self._job.areas[area])
        return [test for test in self._items if test.startswith(folders)]

    def _all_mutants(self, order: Order) -> None:
        tests = {name: self._of(name) for name in self._job.areas}
        for number, mutant in enumerate(self._job.mutants):
            self._processes.wait_for_room()
            self._start(number, mutant, order.of(number, mutant, tests[mutant.area]), order)
        self._processes.wait()

    def _start(self, number: int, mutant: Mutant, chosen: list[str], order: Order) -> None:
        said = dict[str, Any]()

        def ended(end: Ended) -> None:
            at = said.get("at", 0)
            result = {"outcome": said.get("outcome"), "by": said.get("by", ""), "tests": said.get("tests", at + 1)}
            if result["outcome"] is None:
                result["outcome"], result["by"] = end.outcome, f"{chosen[at] if at < len(chosen) else 'no test'} ({end.words})"
            elif result["outcome"] == SURVIVED and not chosen:
                result["by"] = "no test reaches it"
            if result["outcome"] == FOUND:
                order.found(mutant, result["by"].split(" (")[0])
            self._tell(event="result", number=number, seconds=end.seconds, **result)

        self._processes.start(
            *fork(partial(self._run_mutant, mutant, chosen), self._caches), said.update, ended, patience=self._job.budget * 5
        )

    def _run_mutant(self, mutant: Mutant, chosen: Sequence[str], tell: Callable[..., None]) -> None:
        """Runs in a fork: puts the fault in, and runs tests."""
        self._faults.forget()
        try:
            self._faults.put(mutant)
        except Stillborn as reason:
            tell(outcome=STILLBORN, by=str(reason), tests=0)
        except (NoEffect, ValueError, SyntaxError) as reason:
            tell(outcome=ERROR, by=str(reason), tests=0)
        else:
            run_mutant(self._session, [self._items[test] for test in chosen], self._limits, self._job.budget, tell)


@contextlib.contextmanager
def _silent() -> Iterator[Callable[..., None]]:
    """Gives standard output to the reports alone, and takes standard input from tests."""
    out = os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)

    def tell(**event: Any) -> None:
        out.write(json.dumps(event) + "\n")
        out.flush()

    yield tell


def main(job: str) -> int:
    """Serves one job, in the current folder."""
    work, root = Job.load(Path(job).read_text()), Path.cwd()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # What finds a mutant must not depend on chance, nor on what another mutant has left; and a counterexample need not be a small one.
    settings.register_profile("mutants", derandomize=True, database=None, deadline=None, phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutants")
    caches = tempfile.mkdtemp(prefix="grove-mutants-")
    os.environ[CACHE] = caches
    folders = sorted({folder for folders in work.areas.values() for folder in folders})
    options = ["-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not cluster", "--capture=sys", f"--rootdir={root}", "-o", "run_limit=0"]
    options += [f"--ignore={root / folder}" for folder in NOT_COLLECTED]
    began = time.monotonic()
    with _silent() as tell:
        try:
            code = pytest.main([*options, *folders], plugins=[Server(work, root, tell)])
            tell(event="ended", code=int(code), seconds=time.monotonic() - began)
        finally:
            shutil.rmtree(caches, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
