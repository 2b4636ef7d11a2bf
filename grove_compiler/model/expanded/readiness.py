"""When objects of Grove's own kinds are ready: for whoever waits for them or shows them, no part of what is compiled."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest

READY_KINDS = {
    "PodCliqueSet": "grove.io",
    "PodCliqueScalingGroup": "grove.io",
    "PodClique": "grove.io",
    "PodGang": "scheduler.grove.io",
}
"""The kinds that are asked about, and their API groups."""


def ready_when(kind: str) -> list[Manifest]:
    """Decides what has to be true: each a `field`, `comparison`, `value` or `other`, and `default`, or a `condition` with its `status`."""
    raise NotImplementedError
