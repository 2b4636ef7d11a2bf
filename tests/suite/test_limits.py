"""What never ends is ended: named, with the stacks of threads and tasks, and the rest of the run goes on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.suite.nested import run
from tests.suite.rows import rows

PROCESSES = {"one process": (), "a worker": ("-n", "1")}
processes = pytest.mark.parametrize("processes", PROCESSES.values(), ids=PROCESSES.keys())

NEVER_ENDS = {
    "a loop": ("def test_never_ends():\n    while True: pass\n", "in test_never_ends"),
    "a coroutine": (
        "import asyncio\nasync def inner():\n    await asyncio.Event().wait()\nasync def test_never_ends():\n    await inner()\n",
        "in inner",
    ),
    "another task": (
        "import asyncio\nasync def server():\n    await asyncio.Event().wait()\n"
        "async def test_never_ends():\n    await asyncio.create_task(server(), name='the server')\n",
        "task the server",
    ),
    "a thread": (
        "import threading\ndef worker():\n    threading.Event().wait()\ndef test_never_ends():\n"
        "    one = threading.Thread(target=worker, name='the worker', daemon=True)\n    one.start()\n    one.join()\n",
        "thread the worker",
    ),
    "a failure that a task keeps": (
        "import asyncio\nasync def busy():\n    while True: pass\nasync def test_never_ends():\n    await asyncio.create_task(busy())\n",
        "in busy",
    ),
    "a property": (
        "from hypothesis import given, strategies, settings\nimport time\n@settings(deadline=None)\n@given(strategies.integers())\n"
        "def test_never_ends(n):\n    time.sleep(0.3)\n",
        "in test_never_ends",
    ),
}
FINE = "\ndef test_fine(): pass\n"


class Reported(NamedTuple):
    """What a run says whose tests never end but for one, and of each test that fails the section about it."""

    code: int
    said: str
    sections: dict[str, str]


def function(case: str) -> str:
    return f"test_{case.replace(' ', '_')}"


@pytest.fixture(
    scope="module",
    params=[pytest.param(given, id=name, marks=pytest.mark.xdist_group(f"limits: {name}")) for name, given in PROCESSES.items()],
)
def reported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    tests = [tests.replace("test_never_ends", function(case)) for case, (tests, _) in NEVER_ENDS.items()]
    code, said = run(tmp_path_factory.mktemp("run"), "".join(tests) + FINE, "--timeout", "1", *request.param)
    _, *parts = re.split(r"^_{3,} (test_\w+) _{3,}$", said.partition("short test summary info")[0], flags=re.MULTILINE)
    return Reported(code, said, dict(zip(parts[::2], parts[1::2], strict=True)))


@rows(("case", "says"), [(case, says) for case, (_, says) in NEVER_ENDS.items()])
def test_a_test_that_never_ends_fails_with_its_stacks(reported: Reported, case: str, says: str) -> None:
    assert f"FAILED test_it.py::{function(case)}" in reported.said
    assert "the test ran 1 s, its limit" in reported.sections[function(case)]
    assert says.replace("test_never_ends", function(case)) in reported.sections[function(case)]


def test_the_rest_of_a_run_goes_on_without_the_tests_that_never_end(reported: Reported) -> None:
    assert f"{len(NEVER_ENDS)} failed, 1 passed" in reported.said
    assert reported.code == 1


def test_a_test_that_swallows_its_failure_is_ended_with_its_worker(tmp_path: Path) -> None:
    loop = "    while True:\n        try:\n            time.sleep(1)\n        except BaseException: pass\n"
    tests = f"import time\ndef test_never_ends():\n{loop}"
    code, said = run(tmp_path, tests + FINE, "-n", "2", "--timeout", "1", "-o", "beyond_limit=1")
    assert "crashed while running 'test_it.py::test_never_ends'" in said
    assert "in test_never_ends" in said
    assert "1 failed, 1 passed" in said
    assert code == 1


@processes
def test_a_run_that_takes_too_long_ends_and_names_what_is_running(tmp_path: Path, processes: tuple[str, ...]) -> None:
    tests = "import time, pytest\n@pytest.mark.parametrize('n', range(100))\ndef test_slow(n):\n    time.sleep(n * 10)\n"
    code, said = run(tmp_path, tests, "--timeout", "50", "--run-limit", "8", *processes)
    assert "the run has taken 8 s, its limit; what is running:\n  test_it.py::test_slow[" in said
    assert "the test ran until the end of the run" in said
    assert "the run has reached its limit" in said
    assert code != 0


REPORTED_LATE = """
import time

class Late:
    def pytest_runtest_logreport(self, report):
        if report.when == "call" and "is_reported" in report.nodeid:
            time.sleep(5)

def test_is_reported(request):
    request.config.pluginmanager.register(Late())
"""


@processes
def test_a_limit_that_is_met_while_a_test_is_reported_ends_no_worker(tmp_path: Path, processes: tuple[str, ...]) -> None:
    code, said = run(tmp_path, REPORTED_LATE + FINE, "--timeout", "4", *processes)  # longer than a busy machine stops a test
    assert "2 passed" in said
    assert code == 0


def test_a_run_that_ends_in_time_says_nothing(tmp_path: Path) -> None:
    code, said = run(tmp_path, FINE, "--timeout", "50", "--run-limit", "50")
    assert "limit" not in said
    assert code == 0
