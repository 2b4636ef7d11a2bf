"""Decides when objects of Grove's own kinds are ready, for commands that wait for them or show them; no part of a compilation."""

from __future__ import annotations

from typing import Protocol

from grove_compiler.graph.node import Manifest

READY_KINDS = {"PodCliqueSet": "grove.io", "PodCliqueScalingGroup": "grove.io", "PodClique": "grove.io", "PodGang": "scheduler.grove.io"}
"""The kinds with a readiness rule, and their API groups."""


class ReadinessDecisions(Protocol):
    @staticmethod
    def ready_when(kind: str) -> list[Manifest]:
        """Decides the requirements, each a `field`, `comparison`, `value` or `other`, and `default`, or a `condition` with its `status`.

        What has a `then`, `Ready` or `Failed`, decides alone where it holds.
        """
