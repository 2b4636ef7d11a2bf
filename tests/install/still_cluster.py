"""Makes a cluster in which nothing moves by itself, with what the shipped operator stored, for tests of how operators follow each other."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from applier.testing.control_plane import ControlPlane
from tests.conformance.cases import CONFIGURATION

from .cluster import Cluster
from .recorded import FOLDER, case, put
from .scenario import install, others, settings

NEEDED = [
    pytest.mark.cluster("kube-controller-manager"),
    pytest.mark.skipif(not FOLDER.is_dir(), reason="no recorded cases: set GROVE_CONFORMANCE"),
]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """There are neither nodes nor a scheduler, as there were none when the cases were recorded."""
    (tmp_path / "cluster").mkdir()
    with ControlPlane.start(parts=("kube-controller-manager",)) as plane:
        yield Cluster(plane, tmp_path / "cluster")


def store(cluster: Cluster, cases: Sequence[str]) -> None:
    """Installs all but the operator, configured as it was when the cases were recorded, and puts these cases there."""
    others(cluster)
    config = [f"config.{key}={json.dumps(CONFIGURATION[key])}" for key in ("scheduler", "topologyAwareScheduling", "network")]
    alone = ["webhooks.enabled=false", "config.leaderElection.enabled=false", "replicas=1"]
    install(cluster, [*settings(with_topologies=False), *config, *alone])
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd", "--all")
    cluster.apply(*yaml.load_all((FOLDER / "topologies.yaml").read_text("utf-8"), yaml.CSafeLoader))
    for name in cases:
        put(cluster.plane, case(name))


def settled(cluster: Cluster) -> None:
    """Waits until the operator has written nothing for some seconds."""
    before = -1
    while (writes := (cluster.folder / "operator.log").read_text().count('"decided"')) != before:
        before = writes
        time.sleep(5.0)
