"""What shares a control plane of its own runs in one worker: only there it is started."""

from __future__ import annotations

from pathlib import Path

from tests.suite.nested import run

SHARED = """
import os, pytest

@pytest.fixture(scope="session")
def own_plane():
    with open("started", "a") as started:
        print(os.getpid(), file=started)

@pytest.mark.parametrize("number", range(8))
def test_with_it(own_plane, number): pass

@pytest.mark.parametrize("number", range(8))
def test_without(number): pass
"""


def test_tests_that_share_servers_of_their_own_run_in_one_worker(tmp_path: Path) -> None:
    code, said = run(tmp_path, SHARED, "-n", "2", "--dist", "loadgroup", "-p", "tests.suite.order")
    assert code == 0, said
    assert len((tmp_path / "started").read_text().splitlines()) == 1
