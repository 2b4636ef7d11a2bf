"""Chooses the names of pods, so that no two successive pods of an index have the same one: a new name is how others know a new pod.

Names of an index are numbered, and its pods use one after the other. A PodClique's status records how many each index has had, in the
writes that report its pods anyway. What has happened since the last write, an operator knows from what it has watched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grove_compiler.graph.node import Manifest
from grove_compiler.model import names
from grove_compiler.model.expanded.attempts import indices
from grove_compiler.model.expanded.attempts.attempt import attempt_number, leaving, replica_attempt
from grove_compiler.model.expanded.live_object import old_status
from grove_compiler.model.expanded.live_pods import LivePod, live_pods
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import remembered

SKIPPED = 4
"""Names that a pod may have skipped, as those of other pods. One that is further on was not named by us."""
MOST_PODS = 1_000_000
"""Beyond the highest index of a pod: anybody may have edited the status."""


def new_pod_name(clique: Clique, index: int, new_names: set[str]) -> str:
    """Returns the name of a new pod, to which it adds it to `new_names`: one that no pod of the index has had, and no pod has now."""
    snapshot, namespace = clique.set.snapshot, clique.set.namespace
    is_taken: Callable[[str], bool] = new_names.__contains__
    # Offline there is no pod to look up, and ten thousand look-ups would be a tenth of a compilation.
    if snapshot:
        had = _names_of_deleted(clique)
        is_taken = lambda name: name in new_names or name in had or snapshot.get("v1", "Pod", namespace, name) is not None  # noqa: E731
    name = names.pod(clique.name, index, is_taken, _attempt(clique), _recorded_names(clique).get(index, 0) if snapshot else 0)
    new_names.add(name)
    return name


def pod_name_counts(clique: Clique) -> list[Manifest]:
    """Returns `podNameCounts` of a PodClique's status: how many names the indices have had, those of the pods that exist included."""
    counts = dict(_recorded_names(clique))
    attempt = _attempt(clique)
    for pod in (*live_pods(clique), *leaving(clique)):
        if pod.index >= 0 and (not clique.set.is_training or attempt_number(pod) == attempt):
            counts[pod.index] = _count_with(pod, counts.get(pod.index, 0), attempt)
    groups: dict[int, list[int]] = {}
    for index, count in counts.items():
        if count:
            groups.setdefault(count, []).append(index)
    return [{"count": count, "indexes": indices.written(groups[count])} for count in sorted(groups)]


def _count_with(pod: LivePod, count: int, attempt: int) -> int:
    """Returns how many names an index has had, with that of a pod of it; `count` is without it."""
    own = pod.clique.name
    if count and names.numbered_pod(own, pod.index, count - 1, attempt) == pod.name:
        return count
    for number in range(count, count + SKIPPED):
        if names.numbered_pod(own, pod.index, number, attempt) == pod.name:
            return number + 1
    return count


@remembered
def _recorded_names(clique: Clique) -> Mapping[int, int]:
    """Returns how many names each index has had, by the PodClique's status; empty without a record, as when the status was lost."""
    counts: dict[int, int] = {}
    for entry in old_status(clique).get("podNameCounts") or ():
        counts.update(dict.fromkeys(indices.read(entry.get("indexes") or "", MOST_PODS), entry.get("count") or 0))
    return counts


@remembered
def _names_of_deleted(clique: Clique) -> frozenset[str]:
    return frozenset(manifest["metadata"]["name"] for manifest in clique.set.snapshot.deleted("Pod", clique.ref))


def _attempt(clique: Clique) -> int:
    return replica_attempt(clique.replica).number if clique.set.is_training else 1
