"""Which cliques a pod waits for, and how far they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from applier.ref import Manifest, is_being_deleted, uid_of
from grove_compiler.gangs.clique import labels_of, maps, section
from grove_compiler.record import record

CLIQUE_LABEL = "grove.io/podclique"
"""Names a pod's PodClique. Shipped Grove goes by the beginning of the pod's name, so that `a` also counts the pods of `ab` (§14, 46)."""


@record
class Parents:
    """The PodCliques that must be up first: of each by name, how many pods have to be ready, and the UIDs of those that are."""

    needed: dict[str, int]
    _ready: dict[str, set[str]] = field(default_factory=dict)

    def list_anew(self, pods: Iterable[Manifest]) -> None:
        """Takes over all pods of the gang as they are now."""
        self._ready = {}
        for pod in pods:
            self.see(pod)

    def see(self, pod: Manifest, *, gone: bool = False) -> None:
        """Takes over one pod as it is now, or that it is gone."""
        ready = self._ready.setdefault(labels_of(pod).get(CLIQUE_LABEL, ""), set())
        if not gone and is_up(pod):
            ready.add(uid_of(pod))
        else:
            ready.discard(uid_of(pod))

    def waiting(self) -> dict[str, int]:
        """Returns how many pods are ready of each clique that has too few, by its name; empty when the pod may start."""
        counts = {name: len(self._ready.get(name, ())) for name in self.needed}
        return {name: count for name, count in counts.items() if count < self.needed[name]}

    def describe(self) -> str:
        """Returns what is waited for in words: `demo-0-router (1 of 2 ready)`."""
        return ", ".join(f"{name} ({count} of {self.needed[name]} ready)" for name, count in self.waiting().items())


def is_up(pod: Manifest) -> bool:
    """Tells whether a pod counts: it is ready and stays, or it ran to its end.

    A pod that has succeeded is never ready again. Whoever came after it would wait for ever, as would a training job of which one clique
    prepares the data and exits.
    """
    status = section(pod, "status")
    if status.get("phase") == "Succeeded":
        return True
    conditions = maps(status.get("conditions"))
    return not is_being_deleted(pod) and any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
