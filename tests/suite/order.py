"""Orders the tests of a run, and keeps in one process what shares a control plane of its own.

Tests against servers wait more than they compute: they go first, the longest of all at their head, so that the others fill the gaps and no
core is idle at the end. A fixture of a whole module or session that ends in `_plane` starts servers: where its tests were spread over all
workers, each would start its own.
"""

from __future__ import annotations

import os

import pytest

FEW_CORES = 4
"""Cores up to which there are two workers for each: tests against servers wait half of their time."""
SHARED_BY_ALL = ("control_plane", "grove_plane")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Returns the number of workers for `-n auto`."""
    cores = os.cpu_count() or 1
    with_servers = config.getoption("markexpr") != "not cluster"
    return 2 * cores if with_servers and cores <= FEW_CORES else cores


@pytest.hookimpl(tryfirst=True)  # before xdist puts the group into the name of a test
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what belongs together for `--dist loadgroup`, and sorts by how much tests wait."""
    for item in items:
        if plane := own_plane(item):
            item.add_marker(pytest.mark.xdist_group(plane))
    items.sort(key=_rank)


def own_plane(item: pytest.Item) -> str:
    """Returns the name of the fixture that starts servers for several tests, with its folder or module; empty where there is none."""
    info = getattr(item, "_fixtureinfo", None)
    for name, definitions in (info.name2fixturedefs if info else {}).items():
        if name.endswith("_plane") and name not in SHARED_BY_ALL and definitions[-1].scope != "function":
            return f"{definitions[-1].baseid}::{name}"
    return ""


def _rank(item: pytest.Item) -> tuple[bool, bool]:
    return item.get_closest_marker("xdist_group") is None, item.get_closest_marker("cluster") is None
