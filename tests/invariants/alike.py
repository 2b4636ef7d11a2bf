"""Pods of one template are made alike: what cannot change in a set and was changed behind admission's back is in none of them."""

from __future__ import annotations

from applier.ref import Manifest
from grove_compiler.labels import POD_HASH_LABEL
from grove_compiler.model.expanded.pod_state import ORDER_CONTAINER
from tests.invariants.cluster_state import ClusterState
from tests.invariants.serving import owner
from tests.simulation.labels import label


def check_alike(state: ClusterState, pod: Manifest) -> None:
    """Raises `AssertionError` where a pod waits for other cliques before it starts, and another one of its template does not."""
    siblings = [one for one in state.pods() if (owner(one), label(one, POD_HASH_LABEL)) == (owner(pod), label(pod, POD_HASH_LABEL))]
    differing = [one["metadata"]["name"] for one in siblings if waits(one) != waits(pod)]
    assert not differing, f"{pod['metadata']['name']} was made from the template of {', '.join(differing)}, and only some wait for others"


def waits(pod: Manifest) -> bool:
    """Whether a pod waits for other cliques before it starts."""
    return any(one["name"] == ORDER_CONTAINER for one in pod["spec"].get("initContainers") or ())
