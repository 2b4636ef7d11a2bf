"""What the shipped operator finds when it is put back: objects, hashes and statuses as it left them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.testing.control_plane import ControlPlane
from tests.conformance.cases import CONFIGURATION

from .cluster import Cluster
from .recorded import FOLDER, case, put
from .scenario import install, others, settings
from .test_taken_over import settled

pytestmark = [
    pytest.mark.cluster("kube-controller-manager"),
    pytest.mark.skipif(not FOLDER.is_dir(), reason="no recorded cases: set GROVE_CONFORMANCE"),
]
Manifest = dict[str, Any]
MANAGED = "app.kubernetes.io/managed-by=grove-operator"
CASES = ("simple2-explicit-startup-order", "multi-node-disaggregated", "workload-ondelete", "m-mnnvl-gpu-default")
KINDS = "podcliquesets,podcliques,podcliquescalinggroups,podgangs,pods,services,serviceaccounts,roles,rolebindings,horizontalpodautoscalers"


OURS = {"computeDomains", "hpaPodSelector"}
"""Fields of statuses that the recorded version of the shipped operator does not write there, and so neither reads."""
PASSING = {"scheduleGatedReplicas"}
"""Counts pods that wait at the moment: of these cases it was recorded before the last gates went."""
OUR_CONDITIONS = {"ResourceClaimTemplatesUnavailable", "ComputeDomainsUnavailable", "WhyPending", "Stalled"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Nothing moves in it by itself: there are neither nodes nor a scheduler, as there were none when the cases were recorded."""
    (tmp_path / "cluster").mkdir()
    with ControlPlane.start(parts=("kube-controller-manager",)) as plane:
        yield Cluster(plane, tmp_path / "cluster")


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
    others(cluster)
    config = [f"config.{key}={json.dumps(CONFIGURATION[key])}" for key in ("scheduler", "topologyAwareScheduling", "network")]
    install(cluster, [*settings(with_topologies=False), *config, "webhooks.enabled=false", "config.leaderElection.enabled=false"])
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd", "--all")
    cluster.apply(*yaml.safe_load_all((FOLDER / "topologies.yaml").read_text("utf-8")))
    for name in CASES:
        put(cluster.plane, case(name))
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
    more = {
        name: set(one["metadata"].get("finalizers") or ()) - set(before[name]["metadata"].get("finalizers") or ())
        for name, one in after.items()
    }
    assert {name: one for name, one in more.items() if one} == {}
