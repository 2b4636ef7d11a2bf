"""What the invariants ask of a cluster, be it simulated or replayed from an audit log."""

from __future__ import annotations

from typing import Protocol

from applier.ref import Kind, Manifest


class ClusterState(Protocol):
    """Represents the objects of one namespace at one moment."""

    @property
    def now(self) -> float:
        """Returns the time in seconds since the epoch."""

    def all(self, kind: Kind) -> list[Manifest]:
        """Returns the objects of a kind."""

    def find(self, kind: Kind, name: str) -> Manifest | None:
        """Returns an object, or nothing."""

    def pods(self) -> list[Manifest]:
        """Returns the pods that are not terminating."""

    def lately_lost(self) -> list[Manifest]:
        """Returns, as they were, the pods that others have taken too recently for the operator to know."""

    def lately_deleted(self) -> list[Manifest]:
        """Returns, as they were, the PodCliques that others have deleted too recently for the operator to know."""

    def is_lately_edited(self, one: Manifest) -> bool:
        """Returns whether somebody has edited what an object declares, too recently for the operator to know."""

    def declared(self, one: Manifest, within: float) -> int:
        """Returns the least number of replicas that an object declared within the last seconds."""
