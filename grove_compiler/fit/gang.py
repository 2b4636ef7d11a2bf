"""Represents gangs for placement: pods, and the nested scopes whose pods must stay in one topology domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from grove_compiler.gangs.gang import LevelName
from grove_compiler.graph.node import Manifest
from grove_compiler.record import record


class DomainKey(NamedTuple):
    """Identifies a kind of topology domain: two nodes are in one domain when they have the same values for all `labels`.

    Without a topology that is the constraint's own label. With one it is the labels from the top of the topology to it, as KAI
    counts domains, and only nodes that have all of the topology's labels, `needed`, are in any domain.
    """

    labels: tuple[str, ...]
    needed: tuple[str, ...]

    @property
    def name(self) -> str:
        """Returns the label key that the constraint names."""
        return self.labels[-1]


@record
class ConstraintScope:
    """Represents pods that share a constraint: the gang, a group of its podgroups, or one podgroup, which is where the pods are.

    `required` must hold; `preferred` is only scored. `minimum` pods are part of the gang, `replicas` is the clique's size.
    """

    level: LevelName
    name: str
    required: DomainKey | None = None
    preferred: DomainKey | None = None
    scopes: list[ConstraintScope] = field(default_factory=list)
    minimum: int = 0
    replicas: int = 0
    pod_spec: Manifest = field(default_factory=dict)

    def walk(self) -> Iterator[ConstraintScope]:
        """Yields this scope and all scopes in it, outermost first."""
        yield self
        for scope in self.scopes:
            yield from scope.walk()

    @property
    def keys(self) -> list[DomainKey]:
        """Returns the required and the preferred key, those of both that are set."""
        return [key for key in (self.required, self.preferred) if key is not None]

    @property
    def podgroups(self) -> list[ConstraintScope]:
        return [scope for scope in self.walk() if scope.level == "podgroup"]


@record
class GangDemand:
    """Represents a PodGang of replica `replica` of the set `set_name`. Scaling-group replicas beyond the minimum name their `base` gang.

    `unchecked` are constraints of its pods that placement does not look at, so that "fits" cannot be promised.
    """

    namespace: str
    name: str
    set_name: str
    replica: int
    base: str
    scope: ConstraintScope
    unchecked: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    @property
    def scaled(self) -> bool:
        """Reports whether the gang waits for a base gang."""
        return bool(self.base)

    @property
    def pods(self) -> int:
        """Returns how many pods must be placed at once."""
        return sum(group.minimum for group in self.scope.podgroups)
