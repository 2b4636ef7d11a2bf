"""The controller behind the server that all tests share, or behind one of our own: nodes, definitions and outages are everybody's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane
from applier.testing.kinds import ClusterKind
from tests.cli.conftest import cache_of_the_session
from tests.definitions import with_definitions

from .admission import Admission, admitting
from .workloads import NODE_LABEL

__all__ = ["cache_of_the_session"]


@pytest.fixture
def admission(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Admission]:
    with admitting(control_plane, [namespace], tmp_path) as there:
        yield there


@pytest.fixture(scope="session")
def own_plane(cluster_kind: ClusterKind) -> Iterator[ControlPlane]:
    """A server with Grove's definitions, and a node for a DaemonSet."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-0", "labels": {NODE_LABEL: "true"}}}
    with ControlPlane.start(parts=("kube-controller-manager",), kind=cluster_kind) as plane:
        with_definitions(plane).objects.apply([node])
        yield plane


@pytest.fixture
def own(own_plane: ControlPlane, tmp_path: Path) -> Iterator[Admission]:
    namespace = own_plane.create_namespace()
    with admitting(own_plane, [namespace], tmp_path) as there:
        yield there
    own_plane.delete_namespace(namespace)
