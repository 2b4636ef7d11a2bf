"""Counts the pods with our scheduling gate, by what they wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from applier.errors import NotSynced
from applier.ref import Manifest, Ref
from grove_compiler.kube.conditions import condition_of, is_true, status_of
from grove_compiler.labels import BASE_GANG_LABEL, GANG_LABEL

REFUSED, NO_GANG, BASE_PENDING, LIFTED_NEXT = "Refused", "PodGangMissing", "BasePodGangPending", "GateToBeLifted"
INITIALIZED = "Initialized"


class Cache(Protocol):
    """The queries of a watch cache that are used here."""

    def get(self, ref: Ref) -> Manifest | None: ...
    def by_label(self, group: str, kind: str, selector: str = "", namespace: str = "") -> list[Manifest]: ...


def gated_pods(cache: Cache) -> Mapping[str, int]:
    """Returns the number of gated pods by reason, from the statuses of PodCliques and gangs; empty until these are synced."""
    counts: Counter[str] = Counter()
    try:
        for clique in cache.by_label("grove.io", "PodClique"):
            if gated := status_of(clique).get("scheduleGatedReplicas"):
                counts[_reason(cache, clique)] += gated
    except NotSynced:
        return {}
    return counts


def _reason(cache: Cache, clique: Manifest) -> str:
    labels = clique["metadata"].get("labels") or {}
    if is_true(clique, "Stalled"):
        return REFUSED
    gang = _gang(cache, clique, labels.get(GANG_LABEL, ""))
    if gang is None:
        return NO_GANG
    initialized = condition_of(gang, INITIALIZED)
    if initialized.get("status") != "True":
        return str(initialized.get("reason") or "PodGangPodsCreationPending")
    return BASE_PENDING if labels.get(BASE_GANG_LABEL) else LIFTED_NEXT


def _gang(cache: Cache, clique: Manifest, name: str) -> Manifest | None:
    namespace = clique["metadata"].get("namespace", "")
    return cache.get(Ref("scheduler.grove.io", "PodGang", namespace, name)) if name else None
