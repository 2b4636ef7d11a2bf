"""What shares a control plane of its own runs in one worker: only there it is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from applier.testing import servers
from applier.testing.assets import Assets
from applier.testing.plane import RunningPlane
from tests.suite.nested import run
from tests.suite.order import is_misnamed

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


ENDED = """
import pytest

def note(what):
    with open("noted", "a") as noted:
        print(what, file=noted)

@pytest.fixture(scope="session")
def own_plane():
    note("starts")
    yield
    note("ends")

@pytest.mark.parametrize("number", range(2))
def test_with_it(own_plane, number): note("with it")

def test_without(): note("without")
"""


@pytest.mark.parametrize("workers", ["0", "1"])
def test_servers_end_with_the_last_test_that_uses_them(tmp_path: Path, workers: str) -> None:
    code, said = run(tmp_path, ENDED, "-n", workers, "--dist", "loadgroup", "-p", "tests.suite.order")
    assert code == 0, said
    assert (tmp_path / "noted").read_text().splitlines() == ["starts", "with it", "with it", "ends", "without"]


def test_a_fixture_with_servers_for_several_tests_has_a_name_that_says_so(tmp_path: Path) -> None:
    plane = RunningPlane(tmp_path, "https://127.0.0.1:1", {}, Assets(tmp_path, frozenset()), ())
    assert not is_misnamed("plane", "module", plane), "another process started its servers"
    plane.running.append(servers.launch("sleeper", ["sleep", "600"], tmp_path))
    assert is_misnamed("plane", "module", plane)
    assert not is_misnamed("login_plane", "module", plane)
    assert not is_misnamed("plane", "function", plane)
    plane.running[0].stop()
