"""Provides fixtures for pytest: a real control plane for the whole run, and a new namespace for each test.

Put `pytest_plugins = ["applier.testing.plugin"]` into the topmost conftest.py, and mark tests that need the servers:

    @pytest.mark.cluster
    def test_it(control_plane, namespace): ...

`@pytest.mark.cluster("kwok")` names the optional parts without which a test makes no sense; where one is not there, the test is skipped.
Where no control plane is there, marked tests are left out, and one line at the end says how many.

`pytest --cluster=restricted` runs the same tests where owner references need rights on the owners, and each namespace has the Pod Security
Standard `restricted` and a quota on limits. `@pytest.mark.plain_cluster("why")` is for a test that cannot hold there.

`@pytest.mark.served_since("1.34", "resource.k8s.io/v1")` is for a test that needs what older servers (`KUBEBUILDER_ASSETS`) do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from applier.testing import assets, versions
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import NotBuilt
from applier.testing.kinds import KINDS, PLAIN, ClusterKind

RUN = pytest.StashKey[Any]()
LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the settings of the fixtures."""
    parser.addoption(
        "--cluster", choices=tuple(KINDS), default=PLAIN.name, help="the kind of cluster that tests run in (default: %(default)s)"
    )
    parser.addini("control_plane_parts", "optional servers that the fixture `control_plane` starts", "args", list(versions.OPTIONAL))


def pytest_configure(config: pytest.Config) -> None:
    """Registers the markers."""
    config.addinivalue_line("markers", "cluster(*parts): needs a real control plane, with these optional parts of it")
    config.addinivalue_line("markers", "plain_cluster(reason): cannot hold where the admission of a cluster is stricter")
    config.addinivalue_line("markers", "served_since(version, what): needs what Kubernetes has from this version on")
    config.stash[LEFT_OUT] = 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects tests that need a control plane if there is none, and skips tests that need a server that is missing."""
    _skip_what_only_a_plain_cluster_allows(config, items)
    _skip_what_this_version_lacks(items)
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


def _skip_what_only_a_plain_cluster_allows(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("cluster") == PLAIN.name:
        return
    for item in items:
        if marker := item.get_closest_marker("plain_cluster"):
            item.add_marker(pytest.mark.skip(reason=str(marker.args[0])))


def _skip_what_this_version_lacks(items: list[pytest.Item]) -> None:
    for item in items:
        for marker in item.iter_markers("served_since"):
            since, what = marker.args
            if reason := assets.why_not_served(what, since):
                item.add_marker(pytest.mark.skip(reason=reason))


def _run_of(config: pytest.Config) -> Any:
    """Returns the run that this process owns. Not called in workers of xdist."""
    from applier.testing import shared

    if RUN not in config.stash:
        config.stash[RUN] = shared.Run()
    return config.stash[RUN]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Passes the folder of the run's control plane to each worker of xdist."""
    try:
        assets.find()
    except NotBuilt:
        return
    node.workerinput["control_plane_run"] = str(_run_of(node.config).folder)


@pytest.fixture(scope="session")
def control_plane_bodies() -> tuple[str, ...]:
    """Returns the resources of which the audit log has every write with its object; override it in the topmost conftest.py."""
    return ()


@pytest.fixture(scope="session")
def cluster_kind(pytestconfig: pytest.Config) -> ClusterKind:
    """Returns the kind of cluster that the run is for, also for tests that start a control plane of their own."""
    return KINDS[pytestconfig.getoption("cluster")]


@pytest.fixture(scope="session")
def control_plane(pytestconfig: pytest.Config, control_plane_bodies: tuple[str, ...], cluster_kind: ClusterKind) -> ControlPlane:
    """Provides a running control plane, shared by all tests of the run."""
    from applier.testing import shared

    worker = getattr(pytestconfig, "workerinput", {})
    folder = Path(worker["control_plane_run"]) if "control_plane_run" in worker else _run_of(pytestconfig).folder
    there = assets.find().programs
    parts = [part for part in pytestconfig.getini("control_plane_parts") if part in there]
    return shared.connect(folder, parts, control_plane_bodies, cluster_kind)


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """Provides the name of a new namespace. Its pods are deleted after the test, without waiting; all else goes with the control plane."""
    name = control_plane.create_namespace()
    yield name
    control_plane.clear_namespace(name)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Reports how many tests a worker has deselected."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["control_plane_left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Receives the number of deselected tests from a worker of xdist; it is the same in all workers."""
    left_out = getattr(node, "workeroutput", {}).get("control_plane_left_out", 0)
    node.config.stash[LEFT_OUT] = max(node.config.stash[LEFT_OUT], left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints one line if tests were deselected, and the folder of the logs if tests against a control plane failed."""
    failed = any(
        "cluster" in getattr(report, "keywords", {}) for outcome in ("failed", "error") for report in terminalreporter.getreports(outcome)
    )
    if RUN in config.stash and (logs := config.stash[RUN].close(keep_logs=failed)):
        terminalreporter.write_line(f"logs of the control plane: {logs}")
    if count := config.stash[LEFT_OUT]:
        tests = "1 test that needs" if count == 1 else f"{count} tests that need"
        terminalreporter.write_line(f"left out {tests} a control plane: `{assets.build_command()}` builds one, once")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stops the control plane if there was no summary."""
    if RUN in config.stash:
        config.stash[RUN].close()
