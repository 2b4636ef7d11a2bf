"""The shipped operator's objects are taken over as they are: no pod, no gang and no hash changes, and a second pass writes nothing."""

from __future__ import annotations

import time
from typing import Any

from tests.cli.running import run
from tests.controller.live.account import ACCOUNT

from .cluster import Cluster
from .still_cluster import NEEDED, cluster, settled, store

pytestmark = NEEDED

__all__ = ["cluster"]

CASES = (
    "simple1",
    "simple2-explicit-startup-order",
    "multi-node-disaggregated",
    "single-node-disaggregated",
    "complete-inference-pipeline",
    "workload1",
    "workload5",
    "workload-ondelete",
    "tas-hierarchy",
    "tas-pcs-multi-pcsg",
    "m-mnnvl-gpu-default",
    "multi-node-aggregated",
)
HASHES = ("grove.io/pod-template-hash", "grove.io/podcliqueset-generation-hash")


def state(cluster: Cluster) -> dict[str, Any]:
    """What must not change: which pods there are and what they are, the gangs, and the hashes by which updates are known."""
    found: dict[str, Any] = {}
    for one in cluster.items("pods,podgangs,podcliques,podcliquesets", "-A"):
        metadata, status = one["metadata"], one.get("status") or {}
        name = f"{one['kind']}/{metadata['namespace']}/{metadata['name']}"
        hashes = {key: value for key, value in (metadata.get("labels") or {}).items() if key in HASHES}
        hashes |= {key: status[key] for key in ("currentGenerationHash", "currentPodTemplateHash") if key in status}
        found[name] = (metadata["uid"], hashes, one["spec"] if one["kind"] in ("Pod", "PodGang") else None)
    return found


def test_what_the_shipped_operator_stored_is_taken_over_as_it_is(cluster: Cluster) -> None:
    store(cluster, CASES)
    before = state(cluster)
    adopted = run("adopt", "--from", "grove-operator", "--kubeconfig", str(cluster.plane.kubeconfig))
    assert adopted.code == 0, adopted.err
    assert "podclique.grove.io/" in adopted.out.lower() and "adopted" in adopted.out
    assert state(cluster) == before
    with cluster.operator():
        cluster.until(lambda: "decided" in cluster.log(), True)
        settled(cluster)
    after = state(cluster)
    assert {name: (before.get(name), after.get(name)) for name in before | after if before.get(name) != after.get(name)} == {}
    mark = cluster.plane.mark()
    with cluster.operator():
        cluster.until(lambda: (cluster.folder / "operator.log").read_text().count('"msg": "leading"'), 2)
        time.sleep(10.0)
    # An event that was told before is tried again under its name, which the server refuses as it is there.
    writes = [one for one in cluster.plane.requests(mark).only(user=ACCOUNT).writes if not one.dry_run and one.code != 409]
    assert [f"{one.verb} {one.resource} {one.namespace}/{one.name}" for one in writes] == []
