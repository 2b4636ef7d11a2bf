"""Goes on when a worker of xdist dies: with the tests that it has not run, and without the one that it ran."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadGroupScheduling | None:
    """Returns the scheduler of `--dist loadgroup`."""
    return Scheduling(config, log) if config.option.dist == "loadgroup" else None


class Scheduling(LoadGroupScheduling):  # type: ignore[misc]  # is of no known type
    """Gives the groups of a dead worker to others.

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
        self.workqueue.update({name: group for name, group in groups.items() if not all(group.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return ran

    def _assign_work_unit(self, node: Any) -> None:
        """Gives a worker a group. One that has died is known to have it, and an event will tell that it died."""
        with suppress(OSError):
            super()._assign_work_unit(node)
