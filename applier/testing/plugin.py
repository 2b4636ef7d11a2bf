"""Fixtures for pytest: a real control plane for the whole run, and a fresh namespace for each test.

Put `pytest_plugins = ["applier.testing.plugin"]` into the topmost conftest.py, and mark tests that need the servers:

    @pytest.mark.cluster
    def test_it(control_plane, namespace): ...

`@pytest.mark.cluster("kwok")` names the optional parts without which a test makes no sense; where one is not there, the test is skipped.
Where no control plane is there, marked tests are left out, and one line at the end says how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from applier.testing import assets, versions
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import NotBuilt

RUN = pytest.StashKey[Any]()
LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Settings of the fixtures."""
    parser.addini("control_plane_parts", "optional servers that the fixture `control_plane` starts", "args", list(versions.OPTIONAL))


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker."""
    config.addinivalue_line("markers", "cluster(*parts): needs a real control plane, with these optional parts of it")
    config.stash[LEFT_OUT] = 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what needs a control plane where there is none, and skips what needs a part of it that is not there."""
    marked = [item for item in items if item.get_closest_marker("cluster")]
    if not marked:
        return
    try:
        missing = assets.find().left_out
    except NotBuilt:
        config.stash[LEFT_OUT] = len(marked)
        config.hook.pytest_deselected(items=marked)
        items[:] = [item for item in items if not item.get_closest_marker("cluster")]
        return
    for item in marked:
        needed = {part for marker in item.iter_markers("cluster") for part in marker.args}
        if absent := sorted(needed.intersection(missing)):
            item.add_marker(pytest.mark.skip(reason=f"{', '.join(absent)} not there: see {assets.ENVTEST_VARIABLE}"))


def _run_of(config: pytest.Config) -> Any:
    """Returns the run that this process owns. Only asked for in a process that is nobody's worker."""
    from applier.testing import shared

    if RUN not in config.stash:
        config.stash[RUN] = shared.Run()
    return config.stash[RUN]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells each worker of xdist where the run's control plane is, or will be."""
    try:
        assets.find()
    except NotBuilt:
        return
    node.workerinput["control_plane_run"] = str(_run_of(node.config).folder)


@pytest.fixture(scope="session")
def control_plane(pytestconfig: pytest.Config) -> ControlPlane:
    """A running control plane, one for the whole test run: everybody's, so leave alone what is not yours."""
    from applier.testing import shared

    worker = getattr(pytestconfig, "workerinput", {})
    folder = Path(worker["control_plane_run"]) if "control_plane_run" in worker else _run_of(pytestconfig).folder
    there = assets.find().programs
    return shared.connect(folder, [part for part in pytestconfig.getini("control_plane_parts") if part in there])


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """The name of a fresh namespace. Its end is asked for after the test, and not waited for."""
    name = control_plane.create_namespace()
    yield name
    control_plane.delete_namespace(name)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tells, from a worker, how many tests it left out."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["control_plane_left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes what a worker of xdist left out: every worker has collected the same tests, and left out the same."""
    left_out = getattr(node, "workeroutput", {}).get("control_plane_left_out", 0)
    node.config.stash[LEFT_OUT] = max(node.config.stash[LEFT_OUT], left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints one line where tests were left out, and where the logs are when tests against a control plane failed."""
    failed = any(
        "cluster" in getattr(report, "keywords", {}) for outcome in ("failed", "error") for report in terminalreporter.getreports(outcome)
    )
    if RUN in config.stash and (logs := config.stash[RUN].close(keep_logs=failed)):
        terminalreporter.write_line(f"logs of the control plane: {logs}")
    if count := config.stash[LEFT_OUT]:
        tests = "1 test that needs" if count == 1 else f"{count} tests that need"
        terminalreporter.write_line(f"left out {tests} a control plane: `{assets.build_command()}` builds one, once")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends what is still running when there was no summary."""
    if RUN in config.stash:
        config.stash[RUN].close()
