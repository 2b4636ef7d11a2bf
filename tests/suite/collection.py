"""Makes collection cheap: without Python's garbage collector, and with each test module compiled by one worker only.

The collector takes a third of the time of a collection, and nearly all that it makes stays until the end. So does what tests share,
programs above all, and to look at all of it every few seconds took up to a tenth of what tests cost.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

YOUNG = 5_000
"""Allocations between two looks at the youngest, instead of 700: most of what a step allocates is freed before, and not looked at."""
OLD = 100
"""Looks at the generation in the middle between two at all that is older, instead of 10."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collects the tests with the garbage collector off, and spares it their objects for good: they would be looked at in vain again."""
    gc.disable()
    try:
        if hasattr(session.config, "workerinput") and session.config.args == session.config.getini("testpaths"):
            import_share(session.config.rootpath, session.config.workerinput)
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(YOUNG, gc.get_threshold()[1], OLD)


def import_share(root: Path, worker: dict[str, Any]) -> None:
    """Imports a worker's share of all test modules, which compiles those that have changed.

    All workers collect all modules in one order, so that in a new checkout each would compile each at the same time as the others.
    """
    share = sorted(root.glob("tests/**/test_*.py"))[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]
    for path in share:
        with suppress(Exception, pytest.skip.Exception):  # which collection reports
            importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
