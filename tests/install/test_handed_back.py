"""What the shipped operator finds when it is put back: objects, hashes and statuses as it left them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .cluster import Cluster
from .recorded import case
from .still_cluster import NEEDED, cluster, settled, store

pytestmark = NEEDED

__all__ = ["cluster"]

Manifest = dict[str, Any]
MANAGED = "app.kubernetes.io/managed-by=grove-operator"
CASES = ("simple2-explicit-startup-order", "multi-node-disaggregated", "workload-ondelete", "m-mnnvl-gpu-default")
KINDS = "podcliquesets,podcliques,podcliquescalinggroups,podgangs,pods,services,serviceaccounts,roles,rolebindings,horizontalpodautoscalers"


OURS = {"computeDomains", "hpaPodSelector"}
"""Fields of statuses that the recorded version of the shipped operator does not write there, and so neither reads."""
PASSING = {"scheduleGatedReplicas"}
"""Counts pods that wait at the moment: of these cases it was recorded before the last gates went."""
OUR_CONDITIONS = {"ResourceClaimTemplatesUnavailable", "ComputeDomainsUnavailable", "WhyPending", "Stalled"}


def objects(cluster: Cluster) -> dict[str, Manifest]:
    """What the shipped operator stored, by kind, namespace and name."""
    found = (one for name in CASES for one in cluster.items(KINDS, "-n", case(name)["namespace"]))
    return {f"{one['kind']}/{one['metadata']['namespace']}/{one['metadata']['name']}": one for one in found}


def declared(one: Manifest) -> Manifest:
    """All of an object but its status, its finalizers, and what a server writes."""
    metadata = {key: one["metadata"].get(key) for key in ("uid", "labels", "annotations", "ownerReferences")}
    return {**{key: value for key, value in one.items() if key not in ("metadata", "status")}, "metadata": metadata}


def finalizers(one: Manifest) -> set[str]:
    return set(one["metadata"].get("finalizers") or ())


def reported(one: Manifest) -> Manifest:
    """What a status says in the shipped operator's words. The autoscaler's is Kubernetes' own."""
    status = {} if one["kind"] == "HorizontalPodAutoscaler" else dict(one.get("status") or {})
    if progress := status.get("updateProgress"):  # which members are up to date each operator counts in its own way under OnDelete
        status["updateProgress"] = {key: value for key, value in progress.items() if key != "updatedPodCliquesCount"}
    conditions = {each["type"]: each["status"] for each in status.pop("conditions", ()) if each["type"] not in OUR_CONDITIONS}
    return {"conditions": conditions, **{key: value for key, value in status.items() if key not in OURS | PASSING}}


def differences(before: dict[str, Manifest], after: dict[str, Manifest], look: Callable[[Manifest], Manifest]) -> dict[str, Any]:
    """By object and field, what was and what is."""
    return {
        f"{name} {field}": (old.get(field), new.get(field))
        for name in before
        for old, new in [(look(before[name]), look(after[name]))]
        for field in sorted(old | new)
        if old.get(field) != new.get(field)
    }


def test_the_shipped_operator_finds_what_it_left(cluster: Cluster) -> None:
    store(cluster, CASES)
    before = objects(cluster)
    with cluster.operator():
        cluster.until(lambda: len(cluster.items("controllerrevisions", "-A", "-l", MANAGED)) == len(CASES), True)
        settled(cluster)
    cluster.kubectl("delete", "controllerrevisions", "-l", MANAGED, "-A")
    after = objects(cluster)
    assert after.keys() == before.keys()
    assert differences(before, after, declared) == {}
    assert differences(before, after, reported) == {}
    # Finalizers of its own it puts on again; there must be none that it would wait for.
    more = {name: finalizers(one) - finalizers(before[name]) for name, one in after.items()}
    assert {name: one for name, one in more.items() if one} == {}
