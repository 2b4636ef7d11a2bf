"""Orders the tests of a run, and keeps in one process what shares a control plane of its own.

The long ones come first, so that none is left over at the end; `scheduling.py` gives them to workers. A fixture of a whole module or
session that ends in `_plane` starts servers: where its tests were spread over all workers, each would start its own.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import pytest

from applier.testing.plane import RunningPlane

FEW_CORES, WORKERS = 4, 3
"""Cores up to which there are more workers for each: tests against servers wait most of their time."""
MEMORY = 3 * 1024**3 // 2
"""Bytes for each of these workers, with the servers that its tests start."""
SHARED_BY_ALL = ("control_plane", "grove_plane")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Returns the number of workers for `-n auto`."""
    cores, memory = os.cpu_count() or 1, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with_servers = config.getoption("markexpr") != "not cluster"
    return max(min(WORKERS * cores, memory // MEMORY), cores) if with_servers and cores <= FEW_CORES else cores


def pytest_configure(config: pytest.Config) -> None:
    """Keeps xdist from beginning with all groups."""
    config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)  # before xdist puts the group into the name of a test
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what belongs together for `--dist loadgroup`, and orders the groups, those with tests against servers first."""
    for item in items:
        if plane := own_plane(item):
            item.add_marker(pytest.mark.xdist_group(plane))
    groups: dict[object, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(_group(item), []).append(item)
    waiting = [group for group in groups.values() if any(item.get_closest_marker("cluster") for item in group)]
    computing = [group for group in groups.values() if not any(item.get_closest_marker("cluster") for item in group)]
    waiting.sort(key=_length, reverse=True)
    computing.sort(key=len, reverse=True)
    items[:] = [item for group in [*waiting, *computing] for item in group]


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    """Fails where a control plane is started for several tests under a name by which they are not kept together."""
    made = yield
    if is_misnamed(fixturedef.argname, fixturedef.scope, made):
        pytest.fail(f"the fixture {fixturedef.argname} starts servers for several tests: its name has to end in `_plane`")
    return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """Ends servers with the last test that uses them, not with the session: those without work take 2 % of a core."""
    yield
    if (definition := _own_plane(item)) is not None and (nextitem is None or _own_plane(nextitem) is not definition):
        definition.finish(item._request)  # type: ignore[attr-defined]


def is_misnamed(name: str, scope: str, made: object) -> bool:
    """Whether the tests of a fixture that started servers would be spread over all workers, each of which would start its own."""
    return isinstance(made, RunningPlane) and bool(made.running) and scope != "function" and not name.endswith("_plane")


def _group(item: pytest.Item) -> object:
    """Returns what is the same for tests of one group, and another thing for each that is in none."""
    marker = item.get_closest_marker("xdist_group")
    return item if marker is None else marker.kwargs.get("name") or marker.args[0]


def _length(group: Sequence[pytest.Item]) -> tuple[float, int]:
    """Returns by what the long groups come first: a limit of their own, then the number of tests."""
    limits = [marker.args[0] for item in group if (marker := item.get_closest_marker("timeout"))]
    return max(limits, default=0.0), len(group)


def own_plane(item: pytest.Item) -> str:
    """Returns the name of the fixture that starts servers for several tests, with its folder or module; empty where there is none."""
    definition = _own_plane(item)
    return f"{definition.baseid}::{definition.argname}" if definition is not None else ""


def _own_plane(item: pytest.Item) -> pytest.FixtureDef[Any] | None:
    info = getattr(item, "_fixtureinfo", None)
    known: Mapping[str, Sequence[pytest.FixtureDef[Any]]] = info.name2fixturedefs if info else {}
    ours = (definitions[-1] for name, definitions in known.items() if name.endswith("_plane") and name not in SHARED_BY_ALL)
    return next((definition for definition in ours if definition.scope != "function"), None)
