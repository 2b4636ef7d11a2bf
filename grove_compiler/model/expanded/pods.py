"""The pods of a clique: which indices they hold, how they are called, which of too many go (shipped semantics §3.10, §7.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grove_compiler.graph.node import Manifest
from grove_compiler.model import names
from grove_compiler.model.expanded.gates import may_be_scheduled
from grove_compiler.model.inputs.snapshot import Snapshot, is_finished, is_terminating

if TYPE_CHECKING:
    from grove_compiler.model.expanded.derived import Clique

POD_INDEX_LABEL = "grove.io/podclique-pod-index"
POD_HASH_LABEL = "grove.io/pod-template-hash"
PHASE_ORDER = ("Pending", "Unknown", "Running")


@dataclass(slots=True, eq=False)
class Pod:
    """A pod that should exist. `hostname` follows from its index, `name` does not change while it lives.

    `gated` says whether Grove still keeps the scheduler off it. `claim_names` are the shared claims of this very pod.
    """

    name: str
    hostname: str
    index: int
    existing: bool
    gated: bool
    claim_names: list[str]


def pods_of(clique: Clique) -> list[Pod]:
    """The pods that should exist, by index. Pods that hold an index keep it and their name; the lowest free indices are filled.

    A pod that is being deleted or has finished gives its index up, but its name stays taken while it exists.
    """
    if not clique.set.snapshot:
        given: set[str] = set()
        return [_new_pod(clique, index, given) for index in range(clique.replicas)]
    taken = _TakenNames(clique.set.snapshot, clique.set.namespace)
    holders = _holders(clique)
    missing = clique.replicas - len(holders)
    if missing < 0:
        for pod in sorted(holders.values(), key=lambda pod: _deletion_order(pod, clique))[:-missing]:
            del holders[_index_of(pod)]
    indices = sorted([*holders, *_free_indices(holders, missing)])
    return [_existing_pod(clique, i, holders[i]) if i in holders else _new_pod(clique, i, taken) for i in indices]


def _holders(clique: Clique) -> dict[int, Manifest]:
    """The live pods by index; of two that claim one index the older wins."""
    holders: dict[int, Manifest] = {}
    for pod in sorted(clique.existing_pods, key=_age):
        index = _index_of(pod)
        if index >= 0 and not is_finished(pod):
            holders.setdefault(index, pod)
    return holders


def _free_indices(taken: dict[int, Manifest], count: int) -> list[int]:
    """The lowest `count` indices that nobody holds; none when `count` is below 1."""
    return [index for index in range(len(taken) + count) if index not in taken][:count] if count > 0 else []


def _existing_pod(clique: Clique, index: int, manifest: Manifest) -> Pod:
    name = manifest["metadata"]["name"]
    gated = not may_be_scheduled(manifest, clique)
    return Pod(name, names.hostname(clique.name, index), index, True, gated, clique.pod_claim_names(index))


def _new_pod(clique: Clique, index: int, taken: set[str] | _TakenNames) -> Pod:
    name = names.pod(clique.name, index, taken)
    taken.add(name)
    return Pod(name, names.hostname(clique.name, index), index, False, True, clique.pod_claim_names(index))


class _TakenNames:
    """The names of pods that exist in the namespace, whosever they are, and those just given."""

    __slots__ = ("_given", "_namespace", "_snapshot")

    def __init__(self, snapshot: Snapshot, namespace: str) -> None:
        self._snapshot = snapshot
        self._namespace = namespace
        self._given: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return name in self._given or self._snapshot.get("v1", "Pod", self._namespace, str(name)) is not None

    def add(self, name: str) -> None:
        self._given.add(name)


def _index_of(pod: Manifest) -> int:
    """From the label, else from the hostname; -1 when neither tells."""
    label = ((pod.get("metadata") or {}).get("labels") or {}).get(POD_INDEX_LABEL)
    text = label or ((pod.get("spec") or {}).get("hostname") or "").rpartition("-")[2]
    return int(text) if text.isascii() and text.isdecimal() else -1


def _age(pod: Manifest) -> tuple[str, str]:
    metadata = pod.get("metadata") or {}
    return metadata.get("creationTimestamp") or "", metadata.get("name") or ""


def _deletion_order(pod: Manifest, clique: Clique) -> tuple[bool, int, bool, bool, tuple[int, ...]]:
    """Those that are missed least go first: without a node, not running, not ready, of an old template, young."""
    spec, status, labels = pod.get("spec") or {}, pod.get("status") or {}, pod["metadata"].get("labels") or {}
    phase = status.get("phase") or "Pending"
    conditions = {condition.get("type"): condition.get("status") for condition in status.get("conditions") or []}
    return (
        bool(spec.get("nodeName")),
        PHASE_ORDER.index(phase) if phase in PHASE_ORDER else len(PHASE_ORDER),
        conditions.get("Ready") == "True",
        labels.get(POD_HASH_LABEL) == clique.template.pod_template_hash,
        tuple(-ord(character) for character in _age(pod)[0]),
    )


def count_live(pods: list[Manifest], gang_name: str) -> int:
    """How many pods are not being deleted and belong to a gang by their label."""
    return sum(not is_terminating(pod) and (pod["metadata"].get("labels") or {}).get("grove.io/podgang") == gang_name for pod in pods)
