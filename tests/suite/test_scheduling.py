"""What waits and what computes is run by different workers; one that dies takes nothing with it but the test that it ran."""

from __future__ import annotations

from pathlib import Path

from tests.suite.nested import run

TESTS = """
import os, pathlib, pytest

def note(name):
    with open("ran", "a") as ran:
        print(name, file=ran)

@pytest.mark.parametrize("number", range(40))
def test_before(number): note(f"before {number}")

@pytest.mark.xdist_group("together")
def test_that_dies():
    note("dies")
    os._exit(9)

@pytest.mark.xdist_group("together")
def test_beside_it(): note("beside")

@pytest.mark.parametrize("number", range(40))
def test_after(number): note(f"after {number}")
"""


def test_all_others_are_run_and_the_run_ends(tmp_path: Path) -> None:
    code, said = run(tmp_path, TESTS, "-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder", "-p", "tests.suite.scheduling")
    assert code == 1
    assert "1 failed, 81 passed" in said
    ran = (tmp_path / "ran").read_text().splitlines()
    assert len(ran) == len(set(ran)) == 82


MIXED = """
import os, pytest

def note(name):
    with open("ran", "a") as ran:
        print(name, os.environ["PYTEST_XDIST_WORKER"], file=ran)

@pytest.mark.parametrize("number", range(20))
def test_%s(number): note("%s")
"""


def test_workers_have_tests_of_their_kind_while_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "test_waiting.py").write_text(f"# mark.cluster\n{MIXED % ('waits', 'waits')}")
    code, said = run(tmp_path, MIXED % ("computes", "computes"), "-n", "2", "--dist", "loadgroup", "-p", "tests.suite.scheduling")
    assert code == 0, said
    ran = (tmp_path / "ran").read_text().splitlines()
    first = {line for worker in ("gw0", "gw1") for line in [one for one in ran if one.endswith(worker)][:5]}  # one may begin much later
    assert first in ({"computes gw0", "waits gw1"}, {"computes gw1", "waits gw0"}), "the worker that is ready first computes"
