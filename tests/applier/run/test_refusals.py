"""What would be made in a namespace that is missing or going is not said to be created, by whoever only looks."""

from __future__ import annotations

from typing import Any

import pytest

from applier.desired import Desired, Graph, Policy
from applier.errors import Forbidden
from applier.outcome import Action
from applier.prune import ApplySet, ApplySetError, ApplySetOptions
from applier.ref import Kind
from applier.run.difference import diff
from applier.run.live_state import survey
from applier.run.options import ApplyOptions
from applier.run.pipeline import apply
from applier.testing.control_plane import ControlPlane
from applier.testing.memory import MemoryCluster
from applier.transport import connect

from ..free_schemas import FreeSchemas
from ..things import desired, manifest, ref

GOING = manifest("going", "Namespace", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/hold"]})
MISSING = "namespace 'bar' does not exist"
DENIED = Forbidden(403, "Forbidden", "you cannot get namespaces")


def memory() -> MemoryCluster:
    cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    cluster.seed(GOING, manifest("old", namespace="going"))
    cluster.forget_requests()
    return cluster


async def looked(cluster: MemoryCluster, *objects: Desired) -> dict[str, tuple[str, str]]:
    """What would become of each object, by name."""
    steps = (await survey(Graph(objects), cluster, ApplyOptions("me"))).plan.steps
    return {step.ref.name: (step.action.value, step.reason) for step in steps}


def reads(cluster: MemoryCluster) -> list[str]:
    return [f"{request.verb} {request.name}".strip() for request in cluster.log if request.resource.plural == "namespaces"]


@pytest.mark.parametrize(
    ("namespace", "reason"),
    [("bar", MISSING), ("going", "namespace 'going' is being deleted: nothing can be created in it until it is deleted and recreated")],
)
async def test_what_has_no_place_fails(namespace: str, reason: str) -> None:
    assert await looked(memory(), desired("a", namespace=namespace), desired("b")) == {"a": ("failed", reason), "b": ("created", "")}


async def test_what_would_be_made_again_in_a_namespace_that_goes_fails() -> None:
    cluster = memory()
    cluster.seed(manifest("s", "Service", "going", spec={"clusterIP": "1"}), manager="me")
    again = desired("s", "Service", namespace="going", spec={"clusterIP": "2"}, policy=Policy(recreate=True))
    assert (await looked(cluster, again))["s"][0] == "failed"


async def test_what_is_there_in_a_namespace_that_goes_can_still_be_changed() -> None:
    assert (await looked(memory(), desired("old", namespace="going", data={"x": "1"})))["old"][0] == "configured"


async def test_a_namespace_of_the_same_graph_is_a_place() -> None:
    cluster = memory()
    assert (await looked(cluster, desired("bar", "Namespace"), desired("a", namespace="bar")))["a"] == ("created", "")
    assert reads(cluster) == ["get bar"], "which is the read of the graph's own object"


async def test_namespaces_that_may_not_be_read_are_nothing_said_about() -> None:
    cluster = memory()
    cluster.fail(lambda request: request.resource.plural == "namespaces", DENIED, times=-1)
    assert (await looked(cluster, *(desired("a", namespace=f"n{number}") for number in range(20))))["a"] == ("created", "")


async def test_a_namespace_that_may_be_read_counts_where_all_may_not_be_listed() -> None:
    cluster = memory()
    cluster.fail(lambda request: (request.verb, request.resource.plural) == ("list", "namespaces"), DENIED, times=-1)
    assert (await looked(cluster, *(desired(f"a{number}", namespace=f"n{number}") for number in range(20))))["a7"][0] == "failed"


@pytest.mark.parametrize(("number", "requests"), [(1, ["get n0"]), (20, ["list"])])
async def test_one_look_at_the_namespaces_is_enough(number: int, requests: list[str]) -> None:
    cluster = memory()
    await looked(cluster, *(desired(f"a{n % 40}-{n}", namespace=f"n{n % number}") for n in range(40)))
    assert reads(cluster) == requests


async def test_no_namespace_is_read_when_nothing_would_be_made() -> None:
    cluster = memory()
    await looked(cluster, desired("old", namespace="going"))
    assert reads(cluster) == []


async def test_a_diff_shows_nothing_of_what_has_no_place() -> None:
    [found] = await diff(Graph([desired("a", namespace="bar")]), memory(), ApplyOptions("me"), ask_server=True)
    assert (found.step.action, found.step.reason, found.merged) == (Action.FAILED, MISSING, None)


async def test_a_set_whose_record_has_no_place_is_an_error() -> None:
    keep = ApplySetOptions(ApplySet(Kind("", "v1", "Secret"), "bar", "web", "me/1"))
    with pytest.raises(
        ApplySetError, match="the record of the ApplySet, Secret/bar/web, could not be created: namespace 'bar' does not exist"
    ):
        await survey(Graph([desired("a")]), memory(), ApplyOptions("me", applyset=keep))


@pytest.mark.cluster
async def test_the_words_are_those_of_an_apply(control_plane: ControlPlane, namespace: str) -> None:
    going: dict[str, Any] = {"name": f"{namespace}-going", "finalizers": ["example.com/hold"]}
    control_plane.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": going})
    control_plane.request("DELETE", f"/api/v1/namespaces/{namespace}-going")
    graph = Graph([desired("a", namespace=f"{namespace}-going"), desired("b", namespace=f"{namespace}-missing")])
    try:
        async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
            seen = (await survey(graph, cluster, ApplyOptions("me"))).plan.steps
            done = (await apply(graph, cluster, ApplyOptions("me"))).outcomes
    finally:
        control_plane.kubectl("patch", "namespace", f"{namespace}-going", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    assert [(step.action, step.reason) for step in seen] == [(outcome.action, outcome.reason) for outcome in done]
    assert {outcome.action for outcome in done} == {Action.FAILED}


# What waits for something else.


async def test_what_would_wait_for_what_fails_is_held() -> None:
    first, second = desired("a", namespace="bar"), desired("b", "ConfigMap", ref("a", namespace="bar"))
    third = desired("c", "ConfigMap", ref("b", namespace="shop"))
    assert await looked(memory(), first, second, third) == {
        "a": ("failed", MISSING),
        "b": ("held", "waits for ConfigMap/bar/a, which failed"),
        "c": ("held", "waits for ConfigMap/shop/b, which waits for ConfigMap/bar/a, which failed"),
    }


async def test_what_would_wait_for_what_the_server_refuses_is_held_in_a_diff() -> None:
    cluster = memory()
    cluster.fail("apply", Forbidden(403, "Forbidden", "no"))
    found = await diff(
        Graph([desired("a"), desired("b", "ConfigMap", ref("a", namespace="shop"))]),
        cluster,
        ApplyOptions("me"),
        ask_server=True,
    )
    assert [(one.step.action, one.merged) for one in found] == [(Action.FAILED, None), (Action.HELD, None)]
