"""A cluster with nodes and Grove's definitions, and the operator in a namespace of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from applier.testing.control_plane import ControlPlane
from applier.testing.kinds import ClusterKind
from applier.transport import connect
from tests.compiled_schemas import share
from tests.definitions import with_definitions
from tests.invariants.plane import STRICT, judged_plane
from tests.invariants.rights import refused

from .account import ACCOUNT, account_of
from .world import AGENT, PEOPLE, LiveCluster

NODES = 5


@pytest.fixture(scope="session")
def grove_plane(control_plane: ControlPlane) -> ControlPlane:
    """The control plane with our definitions and some nodes. Applying is the same however often it is done, by whichever worker."""
    return with_grove(control_plane)


@pytest.fixture(scope="session")
def own_plane(cluster_kind: ClusterKind) -> Iterator[ControlPlane]:
    """One for the tests of this process alone: they change what belongs to the whole cluster, such as topologies and definitions.

    Operators that look after every namespace run here only: they would do the work of those that other tests watch. Who writes owner
    references needs rights on the owners here, as in OpenShift.
    """
    with judged_plane(api_server_flags=STRICT, kind=cluster_kind) as plane:
        yield with_grove(plane)
        assert refused(plane.audit_log, ACCOUNT) == []


@pytest.fixture
async def whole_cluster(own_plane: ControlPlane) -> AsyncIterator[LiveCluster]:
    """A cluster without an operator yet, which tests start for all namespaces. The objects of a test are in a namespace of their own."""
    async with opened(own_plane, own_plane.create_namespace()) as there:
        yield there
        await there.stop()
        own_plane.delete_namespace(there.namespace)


def with_grove(control_plane: ControlPlane) -> ControlPlane:
    """The control plane, once it has our definitions and some nodes."""
    with_definitions(control_plane).objects.apply([node(number) for number in range(NODES)])
    return control_plane


def node(number: int) -> dict[str, Any]:
    """A node that kwok plays."""
    size = {"cpu": "64", "memory": "512Gi", "pods": "250"}
    metadata = {"name": f"grove-node-{number}", "annotations": {"kwok.x-k8s.io/node": "fake"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"capacity": size, "allocatable": size}}


@pytest.fixture
async def world(grove_plane: ControlPlane, namespace: str) -> AsyncIterator[LiveCluster]:
    """The operator at work in a namespace of its own."""
    async with opened(grove_plane, namespace) as there:
        await there.start()
        yield there


@asynccontextmanager
async def opened(plane: ControlPlane, namespace: str) -> AsyncIterator[LiveCluster]:
    """A namespace without an operator yet. Those that a test starts there have the rights of an installed one."""
    async with (
        connect(kubeconfig=str(plane.kubeconfig), user_agent=PEOPLE) as cluster,
        connect(kubeconfig=str(account_of(plane)), user_agent=AGENT) as operators,
    ):
        there = LiveCluster(plane, cluster, namespace, share(operators, plane))
        try:
            yield there
        finally:
            await there.stop()
