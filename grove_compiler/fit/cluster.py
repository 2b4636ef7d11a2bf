"""Describes the nodes on which pods are to be placed, what is left of each, and the manifests that they are read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.gangs.clique import device_of
from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.kube.pod_request import Amounts, HostPort
from grove_compiler.record import record
from grove_compiler.source.document import Document, objects_in
from kube_objects.manifest import namespaced_name, section


@record
class Sourced:
    """Represents an object of a file; `at` is its path in the document, which is not the root for an item of a `List`."""

    value: Any
    document: Document
    at: FieldPath = ()

    @property
    def name(self) -> str:
        """Returns the object's name; empty when it has none."""
        return namespaced_name(self.value)[1]

    def field(self, *path: str) -> Any:
        """Returns the value at a path, or None."""
        return section(self.value, *path[:-1]).get(path[-1])

    def finding(self, code: str, severity: Severity, message: str, *path: str | int, **more: Any) -> Diagnostic:
        """Returns a diagnostic about a path of this object, with file, line and column."""
        return self.document.finding(code, message, (*self.at, *path), severity, **more)


def sourced_objects(documents: Iterable[Document]) -> Iterator[Sourced]:
    """Yields the objects of documents, a `List` as its items."""
    return (Sourced(value, document, at) for document in documents for at, value in objects_in(document.value))


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
