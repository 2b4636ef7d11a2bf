"""Makes a cluster in which nothing moves by itself, has our operator follow the shipped one there, and keeps what was seen meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from applier.testing.control_plane import ControlPlane
from tests.cli.running import Ended, run
from tests.conformance.cases import CONFIGURATION
from tests.controller.live.account import ACCOUNT

from .cluster import Cluster
from .recorded import FOLDER, case, put
from .scenario import install, others, settings

NEEDED = [
    pytest.mark.cluster("kube-controller-manager"),
    pytest.mark.skipif(not FOLDER.is_dir(), reason="no recorded cases: set GROVE_CONFORMANCE"),
]
ADOPTED = (
    "simple1",
    "single-node-disaggregated",
    "complete-inference-pipeline",
    "workload1",
    "workload5",
    "tas-hierarchy",
    "tas-pcs-multi-pcsg",
    "m-mnnvl-cpu-with-annotation",
    "multi-node-aggregated",
)
"""Cases that `grove adopt` takes over before our operator starts."""
FOUND = ("simple2-explicit-startup-order", "multi-node-disaggregated", "workload-ondelete", "m-mnnvl-gpu-default")
"""Cases that our operator finds as the shipped one left them."""
MANAGED = "app.kubernetes.io/managed-by=grove-operator"
KINDS = "podcliquesets,podcliques,podcliquescalinggroups,podgangs,pods,services,serviceaccounts,roles,rolebindings,horizontalpodautoscalers"

Objects = dict[str, dict[str, Any]]
"""Objects of the cases, by kind, namespace and name."""


class Followed(NamedTuple):
    """What was there when one operator had followed another, and what was written."""

    stored: Objects
    """As the shipped operator left it."""
    adoption: Ended
    adopted: Objects
    """Once `grove adopt` had taken over some cases."""
    taken_over: Objects
    """Once our operator had nothing to do any more."""
    writes: list[str]
    """Of our operator when it was started once more."""
    left: Objects
    """Without our operator, and without its ControllerRevisions."""


@contextmanager
def followed(folder: Path) -> Iterator[Followed]:
    """Has our operator follow the shipped one. There are neither nodes nor a scheduler, as there were none when the cases were recorded."""
    with ControlPlane.start(parts=("kube-controller-manager",)) as plane:
        cluster = Cluster(plane, folder)
        _install(cluster)
        _put(cluster, ADOPTED)
        before_adoption = _objects(cluster)
        adoption = run("adopt", "--from", "grove-operator", "--kubeconfig", str(plane.kubeconfig))
        adopted = _objects(cluster)
        _put(cluster, FOUND)
        stored = {**_objects(cluster), **before_adoption}
        with cluster.operator():
            names = ADOPTED + FOUND
            cluster.until(lambda: len(cluster.items("controllerrevisions", "-A", "-l", MANAGED)) == len(names), True)
            _settle(cluster)
        taken_over = _objects(cluster)
        writes = _written_by_another_start(cluster)
        cluster.kubectl("delete", "controllerrevisions", "-l", MANAGED, "-A")
        yield Followed(stored, adoption, adopted, taken_over, writes, _objects(cluster))


def _install(cluster: Cluster) -> None:
    """Installs all but the operator, configured as it was when the cases were recorded."""
    others(cluster)
    config = [f"config.{key}={json.dumps(CONFIGURATION[key])}" for key in ("scheduler", "topologyAwareScheduling", "network")]
    alone = ["webhooks.enabled=false", "config.leaderElection.enabled=false", "replicas=1"]
    install(cluster, [*settings(with_topologies=False), *config, *alone])
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd", "--all")
    cluster.apply(*yaml.load_all((FOLDER / "topologies.yaml").read_text("utf-8"), yaml.CSafeLoader))


def _put(cluster: Cluster, cases: Sequence[str]) -> None:
    for name in cases:
        put(cluster.plane, case(name))


def _objects(cluster: Cluster) -> Objects:
    places = {case(name)["namespace"] for name in ADOPTED + FOUND}
    found = [one for one in cluster.items(KINDS, "-A") if one["metadata"]["namespace"] in places]
    return {f"{one['kind']}/{one['metadata']['namespace']}/{one['metadata']['name']}": one for one in found}


def _settle(cluster: Cluster) -> None:
    """Waits until the operator has written nothing for some seconds."""
    before = -1
    while (writes := (cluster.folder / "operator.log").read_text().count('"decided"')) != before:
        before = writes
        time.sleep(5.0)


def _written_by_another_start(cluster: Cluster) -> list[str]:
    mark = cluster.plane.mark()
    with cluster.operator():
        cluster.until(lambda: (cluster.folder / "operator.log").read_text().count('"msg": "leading"'), 2)
        time.sleep(10.0)
    # An event that was told before is tried again under its name, which the server refuses as it is there.
    writes = [one for one in cluster.plane.requests(mark).only(user=ACCOUNT).writes if not one.dry_run and one.code != 409]
    return [f"{one.verb} {one.resource} {one.namespace}/{one.name}" for one in writes]
