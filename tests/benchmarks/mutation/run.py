"""Runs mutants in a server process, and follows what it tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from applier.testing.progress import Progress
from tests.benchmarks.mutation.areas import Area
from tests.benchmarks.mutation.mutant import Mutant, Result
from tests.benchmarks.mutation.workspace import make_workspace

SERVER = "tests.benchmarks.mutation.server"


class CannotRun(Exception):
    """Reports that there is nothing to measure: the tests fail without a fault, or they cannot be collected."""


class Measured(list[Result]):
    """The results, with the seconds of CPU that all tests of each area need without a fault, and remarks."""

    def __init__(self) -> None:
        super().__init__()
        self.areas = dict[str, float]()
        self.remarks = list[str]()


def run(root: Path, tests: Path, mutants: Sequence[Mutant], areas: Sequence[Area], jobs: int, budget: float) -> Measured:
    """Returns what became of each mutant of the product at `root`, in their order. Raises `CannotRun`."""
    measured = Measured()
    with tempfile.TemporaryDirectory(prefix="grove-mutants-") as name, Progress("mutants") as line:
        folder = Path(name).resolve()
        place = folder / "work"
        place.mkdir()
        line.last = "copying"
        make_workspace(root, tests, place)
        job = folder / "job.json"
        folders = {area.name: [one for one in area.tests if (place / one).is_dir()] for area in areas}
        measured.remarks += [f"{area.name}: there is no {one}" for area in areas for one in area.tests if one not in folders[area.name]]
        job.write_text(json.dumps({"mutants": mutants, "areas": folders, "jobs": jobs, "budget": budget}))
        line.last = "collecting"
        for event in _events(place, job, folder / "errors.txt"):
            line.last = _follow(event, measured, mutants) or line.last
    return _sorted(measured, mutants)


def _sorted(measured: Measured, mutants: Sequence[Mutant]) -> Measured:
    number = {mutant: number for number, mutant in enumerate(mutants)}
    measured.sort(key=lambda result: number[result.mutant])
    return measured


def _follow(event: dict[str, Any], measured: Measured, mutants: Sequence[Mutant]) -> str:
    """Takes in an event; returns how far it has got."""
    match event.pop("event"):
        case "failed":
            raise CannotRun("without a fault, these fail:\n" + "\n".join(f"  {test}\n{text}" for test, text in event["tests"].items()))
        case "collected":
            measured.remarks += [f"{file} reads rules when it is collected, and sees no changed ones" for file in event["early"]]
            return f"{event['tests']} tests without a fault"
        case "unchanged":
            return f"{event['done']} tests have passed without a fault"
        case "passed":
            measured.areas |= event["areas"]
            return "all tests pass without a fault; the first mutants"
        case "result":
            mutant = mutants[event.pop("number")]
            measured.append(Result(mutant, **event))
            found = sum(result.is_found for result in measured)
            return f"{len(measured)} of {len(mutants)}, {found} found, at {mutant.place}"
    return ""


def _events(place: Path, job: Path, errors: Path) -> Iterator[dict[str, Any]]:
    """Starts a server, and yields what it tells. Raises `CannotRun` if it does not get to its end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | {
        "PYTHONPATH": str(place),
        "TMPDIR": str(job.parent),
    }
    command, pipe, ended = [sys.executable, "-m", SERVER, str(job)], subprocess.PIPE, False
    with errors.open("w+") as said, subprocess.Popen(command, cwd=place, env=environment, stdout=pipe, stderr=said, text=True) as server:
        try:
            for text in server.stdout or ():
                event = json.loads(text)
                if event["event"] == "ended":
                    ended = True
                else:
                    yield event
        finally:
            server.terminate()
            server.wait()
        if not ended:
            raise CannotRun(f"the server ended:\n{errors.read_text()[-4000:]}")
