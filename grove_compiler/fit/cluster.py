"""Describes the nodes on which pods are to be placed, and what is left of each."""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from grove_compiler.fit.manifests import Sourced
from grove_compiler.gangs.clique import device_of
from grove_compiler.kube.pod_request import Amounts, HostPort
from grove_compiler.record import record
from grove_compiler.source.document import Document

HOSTNAME = "kubernetes.io/hostname"


class Taint(NamedTuple):
    """Represents a taint, which keeps pods off a node unless they tolerate it."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@record
class ClusterNode:
    """Represents a v1 Node as a scheduler sees it. `used` is what running pods have requested, `ports` are the host ports they took.

    `allocatable` and `used` are in the units of `amounts`. `unschedulable` is `kubectl cordon`. `manifest` is what it was read from.
    """

    name: str
    labels: dict[str, str] = field(default_factory=dict)
    allocatable: Amounts = field(default_factory=dict)
    taints: list[Taint] = field(default_factory=list)
    unschedulable: bool = False
    used: Amounts = field(default_factory=dict)
    ports: set[HostPort] = field(default_factory=set)
    manifest: Sourced = field(default_factory=lambda: Sourced({}, Document({})))

    @property
    def has_gpus(self) -> bool:
        """Reports whether a device plugin offers GPUs or parts of them here, of any vendor."""
        return any(number > 0 and bool(device_of(resource)) for resource, number in self.allocatable.items())

    def free(self, resource: str) -> int:
        """Returns how much of a resource is left, at least 0: a node can be overcommitted."""
        return max(0, self.allocatable.get(resource, 0) - self.used.get(resource, 0))


Cluster = list[ClusterNode]
