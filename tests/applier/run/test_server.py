"""Plans overtaken by others on a real API server, and sets and waits in whole runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from applier.desired import Desired, Graph, Policy
from applier.execute.executor import execute
from applier.execute.options import ExecuteOptions
from applier.plan import load, save
from applier.prune import ApplySet, ApplySetOptions
from applier.ref import Kind, Manifest
from applier.run.live_state import survey
from applier.run.options import ApplyOptions, WaitFor
from applier.run.pipeline import OutOfDate, apply, apply_saved
from applier.testing.control_plane import ControlPlane
from applier.transport import ApiCluster, connect
from tests.permitted import permitted

from ..execute.lab import said
from ..things import manifest

pytestmark = pytest.mark.cluster


def config(namespace: str, value: str, name: str = "a", policy: Policy | None = None) -> Desired:
    return Desired(manifest(name, namespace=namespace, data={"x": value}), policy=policy or Policy())


async def overtaken(plane: ControlPlane, namespace: str, intervention: Callable[[], object], policy: Policy | None = None) -> str:
    """What becomes of a change of `a` when something happens to it between the plan and its carrying out."""
    async with connect(kubeconfig=str(plane.kubeconfig)) as cluster:
        await apply(Graph([config(namespace, "1")]), cluster, ApplyOptions("me"))
        graph = Graph([config(namespace, "2", policy=policy)])
        plan = (await survey(graph, cluster, ApplyOptions("me"))).plan
        intervention()
        return said(await execute(plan, graph, cluster))


def kubectl(plane: ControlPlane, namespace: str, *arguments: str, given: Manifest | None = None) -> str:
    return plane.kubectl(*arguments, "-n", namespace, input=json.dumps(given) if given else None).stdout


def remade(plane: ControlPlane, namespace: str, **fields: Any) -> None:
    kubectl(plane, namespace, "delete", "configmap", "a")
    kubectl(plane, namespace, "create", "-f", "-", given=manifest("a", namespace=namespace, **fields))


async def test_an_object_that_vanished_is_created(control_plane: ControlPlane, namespace: str) -> None:
    intervention = lambda: kubectl(control_plane, namespace, "delete", "configmap", "a")  # noqa: E731
    assert await overtaken(control_plane, namespace, intervention) == "a=created"


async def test_another_object_in_its_place_is_decided_on_anew(control_plane: ControlPlane, namespace: str) -> None:
    assert await overtaken(control_plane, namespace, lambda: remade(control_plane, namespace)) == "a=configured"


async def test_another_object_in_its_place_that_we_may_not_adopt_is_left_alone(control_plane: ControlPlane, namespace: str) -> None:
    assert await overtaken(control_plane, namespace, lambda: remade(control_plane, namespace), Policy(adopt=False)) == "a=held"


async def test_a_change_that_somebody_made_already_is_unchanged_but_for_its_owner(control_plane: ControlPlane, namespace: str) -> None:
    patch = ("patch", "configmap", "a", "--type", "merge", "-p", '{"data": {"x": "2"}}')
    assert await overtaken(control_plane, namespace, lambda: kubectl(control_plane, namespace, *patch)) == "a=configured"


async def plan_of(graph: Graph, cluster: ApiCluster) -> bytes:
    return save((await survey(graph, cluster, ApplyOptions("me"))).plan, graph)


async def test_a_saved_plan_is_carried_out_while_nothing_changed(control_plane: ControlPlane, namespace: str) -> None:
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await apply(Graph([config(namespace, "1")]), cluster, ApplyOptions("me"))
        saved = await plan_of(Graph([config(namespace, "2"), config(namespace, "1", "b")]), cluster)
        assert said((await apply_saved(load(saved), cluster)).outcomes) == "a=configured b=created"


async def test_a_saved_plan_is_refused_once_something_changed(control_plane: ControlPlane, namespace: str) -> None:
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await apply(Graph([config(namespace, "1")]), cluster, ApplyOptions("me"))
        saved = await plan_of(Graph([config(namespace, "2")]), cluster)
        kubectl(control_plane, namespace, "label", "configmap", "a", "touched=yes")
        with pytest.raises(OutOfDate, match=f"ConfigMap/{namespace}/a has changed"):
            await apply_saved(load(saved), cluster)


async def test_a_status_that_moves_on_keeps_a_saved_plan_good(control_plane: ControlPlane, namespace: str) -> None:
    spec = {"containers": [permitted({"name": "main", "image": "example.com/a"})], "schedulerName": "nobody"}

    def pod(label: str) -> Desired:
        return Desired(manifest("p", "Pod", namespace, spec=spec, metadata={"labels": {"a": label}}))

    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await apply(Graph([pod("1")]), cluster, ApplyOptions("me"))
        saved = await plan_of(Graph([pod("2")]), cluster)
        status = '{"status": {"conditions": [{"type": "PodScheduled", "status": "False"}]}}'
        kubectl(control_plane, namespace, "patch", "pod", "p", "--subresource", "status", "--type", "merge", "-p", status)
        assert said((await apply_saved(load(saved), cluster)).outcomes) == "p=configured"


async def test_a_set_is_kept_pruned_and_waited_for(control_plane: ControlPlane, namespace: str) -> None:
    keep = ApplySetOptions(ApplySet(Kind("", "v1", "ConfigMap"), namespace, "set", "me/1"))
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await apply(Graph([config(namespace, "1"), config(namespace, "1", "b")]), cluster, ApplyOptions("me", applyset=keep))
        report = await apply(Graph([config(namespace, "1")]), cluster, ApplyOptions("me", applyset=keep, wait=WaitFor(10)))
        assert (said(report.outcomes), report.ok, len(report.waited)) == ("a=unchanged b=pruned", True, 1)


async def test_a_saved_plan_of_a_set_prunes_while_the_members_are_the_same(control_plane: ControlPlane, namespace: str) -> None:
    keep = ApplySetOptions(ApplySet(Kind("", "v1", "ConfigMap"), namespace, "set", "me/1"))
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await apply(Graph([config(namespace, "1"), config(namespace, "1", "b")]), cluster, ApplyOptions("me", applyset=keep))
        saved = (await survey(Graph([config(namespace, "2")]), cluster, ApplyOptions("me", applyset=keep))).save()
        kubectl(control_plane, namespace, "label", "configmap", "b", "touched=yes")
        with pytest.raises(OutOfDate, match=f"ConfigMap/{namespace}/b has changed"):
            await apply_saved(load(saved), cluster)
        saved = (await survey(Graph([config(namespace, "2")]), cluster, ApplyOptions("me", applyset=keep))).save()
        assert said((await apply_saved(load(saved), cluster)).outcomes) == "a=configured b=pruned"


async def test_what_a_saved_plan_would_make_is_not_made_over_somebody_elses(control_plane: ControlPlane, namespace: str) -> None:
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        graph = Graph([config(namespace, "1")])
        plan = (await survey(graph, cluster, ApplyOptions("me"))).plan
        kubectl(control_plane, namespace, "create", "-f", "-", given=manifest("a", namespace=namespace, data={"y": "theirs"}))
        assert said(await execute(plan, graph, cluster, ExecuteOptions(exact=True))) == "a=held"
        assert kubectl(control_plane, namespace, "get", "configmap", "a", "-o", "jsonpath={.data}") == '{"y":"theirs"}'


async def test_what_a_saved_plan_makes_is_ours_although_controllers_write_to_it_at_once(
    control_plane: ControlPlane, namespace: str
) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main", "image": "example.com/a"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    graph = Graph([Desired(manifest(name, "Deployment", namespace, spec=spec)) for name in "abcdef"])
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        made = await apply_saved(load(await plan_of(graph, cluster)), cluster)
        assert {outcome.action.value for outcome in made.outcomes} == {"created"}
        again = await apply(graph, cluster, ApplyOptions("me"))
        assert {outcome.action.value for outcome in again.outcomes} == {"unchanged"}


async def test_a_secret_that_is_only_created_differs_in_nothing_that_the_server_filled_in(
    control_plane: ControlPlane, namespace: str
) -> None:
    secret = Desired(manifest("s", "Secret", namespace, stringData={"k": "v"}), policy=Policy(create_only=True))
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await apply(Graph([secret]), cluster, ApplyOptions("me"))
        again = await apply(Graph([secret]), cluster, ApplyOptions("me"))
        assert [(outcome.action.value, outcome.reason) for outcome in again.outcomes] == [("unchanged", "is only created, never changed")]


@pytest.mark.parametrize("count", [8, 10])
async def test_what_may_be_read_by_name_may_be_applied_however_many_there_are(
    count: int, control_plane: ControlPlane, namespace: str
) -> None:
    user = control_plane.users["nobody"]
    control_plane.grant(user.name, ["get", "create", "patch"], ["configmaps"], namespace=namespace)
    graph = Graph([config(namespace, "1", f"a{number}") for number in range(count)])
    async with connect(kubeconfig=str(user.kubeconfig)) as cluster:
        assert (await apply(graph, cluster, ApplyOptions("me"))).counts == {"created": count}
        assert (await apply(graph, cluster, ApplyOptions("me"))).counts == {"unchanged": count}


async def test_a_kind_that_may_not_be_read_does_not_stop_the_others(control_plane: ControlPlane, namespace: str) -> None:
    user = control_plane.users["nobody"]
    control_plane.grant(user.name, ["get", "create", "patch"], ["configmaps"], namespace=namespace)
    account = Desired({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": namespace}})
    async with connect(kubeconfig=str(user.kubeconfig)) as cluster:
        report = await apply(Graph([config(namespace, "1"), account]), cluster, ApplyOptions("me"))
    assert said(report.outcomes) == "a=created robot=failed"
    assert 'the live object cannot be read: user "nobody" may not get serviceaccounts' in report.outcomes[1].reason
