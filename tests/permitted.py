"""What a container says in a namespace with the Pod Security Standard `restricted` and a quota on limits, and may say anywhere."""

from __future__ import annotations

import pytest

from applier.ref import Manifest
from applier.testing.kinds import HARMLESS

ANY_POD = pytest.mark.plain_cluster("pods of any shape have to be taken")


def resources(cpu: str = "10m", **devices: str) -> Manifest:
    """Resources of a container: it requests so much, and may have no more. `devices` are limits besides, by name."""
    return {"requests": {"cpu": cpu}, "limits": {"cpu": cpu, "memory": "8Mi", **devices}}


def permitted(container: Manifest) -> Manifest:
    """A container with whatever it lacks for such a namespace."""
    return {"securityContext": HARMLESS, "resources": resources(), **container}
