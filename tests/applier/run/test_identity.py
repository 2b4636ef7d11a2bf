"""A plan is for one cluster: the one that it was made for."""

from __future__ import annotations

import pytest

from applier.desired import Graph
from applier.errors import Forbidden
from applier.plan import load
from applier.ref import Ref
from applier.run.live_state import OtherCluster, identity_of, survey
from applier.run.options import ApplyOptions
from applier.run.pipeline import apply_saved
from applier.testing.control_plane import ControlPlane
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest
from applier.transport import connect

from ..free_schemas import FreeSchemas
from ..things import desired, ref

DENIED = Forbidden(403, "Forbidden", "you cannot get namespaces")


def memory() -> MemoryCluster:
    cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    cluster.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": f"uid-{id(cluster)}"}})
    return cluster


def of_namespaces(request: MemoryRequest) -> bool:
    return request.resource.plural == "namespaces"


async def planned(cluster: MemoryCluster) -> bytes:
    return (await survey(Graph([desired("a")]), cluster, ApplyOptions("me"))).save(cluster=await identity_of(cluster))


async def test_a_plan_is_carried_out_on_its_own_cluster() -> None:
    cluster = memory()
    assert (await apply_saved(load(await planned(cluster)), cluster)).ok
    assert cluster.find(ref("a")) is not None


async def test_a_plan_creates_nothing_in_another_cluster() -> None:
    mine, other = memory(), memory()
    saved = load(await planned(mine))
    with pytest.raises(
        OtherCluster, match=r"was created for another cluster \(uid:uid-\d+\), not this one \(uid:uid-\d+\): create a new plan"
    ):
        await apply_saved(saved, other)
    assert other.writes() == []


async def test_who_may_not_read_it_knows_the_cluster_by_its_address() -> None:
    cluster = memory()
    cluster.fail(of_namespaces, DENIED, times=-1)
    cluster.server = "https://one"  # type: ignore[attr-defined]
    assert await identity_of(cluster) == "server:https://one"
    saved = load(await planned(cluster))
    cluster.server = "https://two"  # type: ignore[attr-defined]
    with pytest.raises(OtherCluster, match="https://one"):
        await apply_saved(saved, cluster)


async def test_a_cluster_that_was_made_anew_at_the_same_address_is_another_one() -> None:
    cluster = memory()
    saved = load(await planned(cluster))
    cluster.store.remove(Ref("", "Namespace", "", "kube-system"))
    cluster.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}})
    with pytest.raises(OtherCluster):
        await apply_saved(saved, cluster)


@pytest.mark.cluster
async def test_the_identity_is_the_uid_that_kubectl_shows(control_plane: ControlPlane) -> None:
    uid = control_plane.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        assert await identity_of(cluster) == f"uid:{uid}"
