"""Checks control planes when tests are done with them: no operator has deleted a ready pod without a reason."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from applier.testing.control_plane import ControlPlane
from applier.testing.kinds import PLAIN, RESTRICTED, ClusterKind
from applier.testing.plane import CONTROLLER_MANAGER, KWOK, SCHEDULER
from tests.invariants.check import LAG, check
from tests.invariants.resources import RESOURCES

STRICT = RESTRICTED.api_server_flags
"""Of what a restricted cluster has, that which asks operators for rights; its namespaces are plain."""


@contextmanager
def judged_plane(*, lag: float = LAG, api_server_flags: Sequence[str] = (), kind: ClusterKind = PLAIN) -> Iterator[ControlPlane]:
    """A control plane with all parts whose audit log is checked when the block ends without an error. Raises `AssertionError`."""
    parts = (CONTROLLER_MANAGER, SCHEDULER, KWOK)
    with ControlPlane.start(parts=parts, bodies=RESOURCES, api_server_flags=api_server_flags, kind=kind) as plane:
        yield plane
        faults = check(plane.audit_log, lag=lag).faults
        assert not faults, "\n".join([*faults, f"the audit log: {keep(plane.audit_log)}"])


def keep(log: Path) -> str:
    """Copies a log to where it stays when its control plane has gone; returns the path."""
    return shutil.copy(log, tempfile.mkdtemp(prefix="audit-log-"))
