"""Has some workers of xdist begin with the tests that compute, and the others with those that wait; and goes on when a worker dies.

Tests against servers wait more than they compute. Where all workers have such tests at once cores are idle, and where one still waits at
the end the others are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]

WAITS = "mark.cluster"
"""What the text of a module with tests against servers has: the process that gives tests to workers does not import them."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadGroupScheduling | None:
    """Returns the scheduler of `--dist loadgroup`."""
    return Scheduling(config, log) if config.option.dist == "loadgroup" else None


class Scheduling(LoadGroupScheduling):  # type: ignore[misc]  # is of no known type
    """Gives each worker groups of its kind while there are any, and those of a dead worker to others.

    That of xdist 3.8 also gives away what the worker had run: other workers get groups of which nothing is left, and then wait for more,
    and the run never ends. And the test that killed it is run again by the next one.
    """

    def remove_node(self, node: Any) -> str | None:
        """Returns the test that ran as the worker died; none where it has no tests left."""
        groups: dict[str, dict[str, bool]] = self.assigned_work.pop(node)
        left = [(group, test) for group in groups.values() for test, is_done in group.items() if not is_done]
        if not left:
            return None
        group, ran = left[0]
        group[ran] = True  # is reported as failed
        again = {name: group for name, group in groups.items() if not all(group.values())}
        self.workqueue.update(again)
        self._enqueue(again)
        for other in self.assigned_work:
            self._reschedule(other)
        return ran

    def _assign_work_unit(self, node: Any) -> None:
        """Gives a worker a group. One that has died is known to have it, and an event will tell that it died."""
        scope = self._next(node)
        group = self.assigned_work.setdefault(node, {})[scope] = self.workqueue.pop(scope)
        with suppress(OSError):
            node.send_runtest_some([self._places[test] for test, is_done in group.items() if not is_done])

    def _next(self, node: Any) -> str:
        """Returns the first group of a worker's kind, else the first one. As many workers compute as there are cores, but at most half."""
        nodes = list(self.assigned_work)
        computes = nodes.index(node) < min(os.cpu_count() or 1, len(nodes) // 2)
        if not any(self._queues.values()):
            self._enqueue(self.workqueue)
        return (self._queues[not computes] or self._queues[computes]).popleft()

    @cached_property
    def _queues(self) -> dict[bool, deque[str]]:
        """The groups of the work queue that wait for servers, and the others. To search it for each group took a minute in all."""
        return {True: deque(), False: deque()}

    def _enqueue(self, groups: Mapping[str, dict[str, bool]]) -> None:
        for name, group in groups.items():
            self._queues[has_servers(self.config.rootpath, next(iter(group)).partition("::")[0])].append(name)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The places of all tests in the collection, which is the same in all workers."""
        return {test: place for place, test in enumerate(self.collection)}


@cache
def has_servers(root: Path, module: str) -> bool:
    """Whether a module has tests against servers."""
    return WAITS in (root / module).read_text()
