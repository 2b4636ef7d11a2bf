"""Chooses the names of pods, so that a pod does not get the name of the one that it replaces: a new name is how others know a new pod."""

from __future__ import annotations

from collections.abc import Callable

from grove_compiler.model import names
from grove_compiler.model.expanded.attempts.attempt import replica_attempt
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import remembered


def new_pod_name(clique: Clique, index: int, new_names: set[str]) -> str:
    """Returns the name of a new pod, which it adds to `new_names`: one that no pod has now, nor had one that was seen to be deleted."""
    snapshot, namespace = clique.set.snapshot, clique.set.namespace
    is_taken: Callable[[str], bool] = new_names.__contains__
    # Offline there is no pod to look up, and ten thousand look-ups would be a tenth of a compilation.
    if snapshot:
        had = _names_of_deleted(clique)
        is_taken = lambda name: name in new_names or name in had or snapshot.get("v1", "Pod", namespace, name) is not None  # noqa: E731
    name = names.pod(clique.name, index, is_taken, replica_attempt(clique.replica).number if clique.set.is_training else 1)
    new_names.add(name)
    return name


@remembered
def _names_of_deleted(clique: Clique) -> frozenset[str]:
    return frozenset(manifest["metadata"]["name"] for manifest in clique.set.snapshot.deleted("Pod", clique.ref))
