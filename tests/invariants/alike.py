"""Pods of one template are made alike: what cannot change in a set and was changed behind admission's back is in none of them."""

from __future__ import annotations

from applier.ref import Manifest
from grove_compiler.labels import POD_HASH_LABEL
from grove_compiler.model.expanded.pod_state import ORDER_CONTAINER
from tests.invariants.cluster_state import ClusterState
from tests.invariants.serving import owner
from tests.simulation.labels import label


def check_alike(state: ClusterState) -> None:
    """Raises `AssertionError` where a pod waits for other cliques before it starts, and another one of its template does not."""
    first: dict[tuple[str, str], Manifest] = {}
    for pod in state.pods():
        sibling = first.setdefault((owner(pod), label(pod, POD_HASH_LABEL)), pod)
        assert waits(sibling) == waits(pod), (
            f"{pod['metadata']['name']} was made from the template of {sibling['metadata']['name']}, and only one of them waits for others"
        )


def waits(pod: Manifest) -> bool:
    """Whether a pod waits for other cliques before it starts."""
    return any(one["name"] == ORDER_CONTAINER for one in pod["spec"].get("initContainers") or ())
