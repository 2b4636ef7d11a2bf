"""What goes along with a namespace or a definition is named, counted, and asked for before."""

from __future__ import annotations

from typing import Any

import pytest

from applier.errors import Forbidden, ServerFailure
from applier.outcome import Action, Outcome
from applier.prune import ApplySetOptions, Budget, Deleter, OpenApplySet, delete_set
from applier.ref import Kind, Manifest, Ref, uid_of
from applier.testing.control_plane import ControlPlane
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest
from applier.transport import ApiCluster, connect

from .sets import CONFIG_MAP, account, applyset, config, graph, run, said, there, written

SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
WIDGETS: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
WIDGET: Manifest = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}}


def owned(name: str, owner: Manifest) -> Manifest:
    entry = {"apiVersion": "v1", "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": uid_of(owner), "controller": True}
    return config(name, "team", ownerReferences=[entry])


@pytest.fixture
async def cluster() -> MemoryCluster:
    """A set of a namespace, a definition, and two objects."""
    cluster = MemoryCluster(namespaces=("default",))
    await run(cluster, SPACE, WIDGETS, config("mine", "team"), config("stays"))
    cluster.seed(config("kube-root-ca.crt", "team"), account("default", "team"))
    return cluster


def lists_secrets(request: MemoryRequest) -> bool:
    return (request.verb, request.resource.plural, request.namespace) == ("list", "secrets", "team")


async def opened(cluster: Any, *manifests: Manifest, **options: Any) -> OpenApplySet:
    return await OpenApplySet.open(ApplySetOptions(applyset(), **options), graph(*manifests), cluster)


async def finished(pruning: OpenApplySet, cluster: Any) -> list[Outcome]:
    return await pruning.finish(await written(pruning.graph, cluster), Deleter(cluster, seconds=0.05))


async def test_a_namespace_of_which_all_is_ours_goes_unasked(cluster: MemoryCluster) -> None:
    assert said(await run(cluster, WIDGETS, config("stays"))) == {"mine": "pruned", "team": "pruned"}


async def test_what_others_have_in_a_namespace_is_named_and_nothing_goes(cluster: MemoryCluster) -> None:
    cluster.seed(config("theirs", "team"), account("robot", "team"))
    pruning = await opened(cluster, WIDGETS, config("stays"))
    reason = (
        "2 of 4 members would be deleted, and with Namespace/team 2 objects that are not in the ApplySet: "
        f"ConfigMap/team/theirs, ServiceAccount/team/robot; approve with {pruning.approval}"
    )
    assert [(step.action, step.reason) for step in pruning.steps] == [(Action.HELD, reason)] * 2
    await finished(pruning, cluster)
    assert there(cluster) >= {"team/mine", "team/theirs"}


async def test_objects_of_a_definition_are_named(cluster: MemoryCluster) -> None:
    cluster.seed(WIDGET)
    pruning = await opened(cluster, SPACE, config("mine", "team"), config("stays"))
    assert (
        "with CustomResourceDefinition.apiextensions.k8s.io/widgets.example.org 1 object that is not in the ApplySet: "
        in pruning.steps[0].reason
    )
    assert "Widget.example.org/default/w" in pruning.steps[0].reason


async def test_what_is_approved_goes(cluster: MemoryCluster) -> None:
    cluster.seed(config("theirs", "team"))
    approval = (await opened(cluster, WIDGETS, config("stays"))).approval
    pruning = await opened(cluster, WIDGETS, config("stays"), approval=approval)
    assert said(await finished(pruning, cluster)) == {"mine": "pruned", "team": "pruned"}


async def test_an_approval_is_of_these_objects_and_no_others(cluster: MemoryCluster) -> None:
    cluster.seed(config("theirs", "team"))
    approval = (await opened(cluster, WIDGETS, config("stays"))).approval
    cluster.seed(config("another", "team"))
    pruning = await opened(cluster, WIDGETS, config("stays"), approval=approval)
    assert {step.action for step in pruning.steps} == {Action.HELD}


async def test_what_comes_after_the_look_keeps_the_namespace(cluster: MemoryCluster) -> None:
    pruning = await opened(cluster, WIDGETS, config("stays"))
    cluster.seed(config("late", "team"))
    outcomes = await finished(pruning, cluster)
    assert said(outcomes)["team"] == "failed"
    assert "ConfigMap/team/late would be deleted with it, which appeared since it was read" in outcomes[-1].reason
    assert "team/late" in there(cluster)


async def test_what_members_own_is_no_news_whenever_it_comes(cluster: MemoryCluster) -> None:
    mine = cluster.find(Ref("", "ConfigMap", "team", "mine"))
    assert mine is not None
    [child] = cluster.seed(owned("child", mine))
    cluster.seed(owned("grandchild", child))
    pruning = await opened(cluster, WIDGETS, config("stays"))
    assert pruning.approval == ""
    cluster.seed(owned("late", child))
    assert said(await finished(pruning, cluster))["team"] == "pruned"


async def test_of_others_only_the_roots_are_named(cluster: MemoryCluster) -> None:
    [root] = cluster.seed(config("theirs", "team"))
    cluster.seed(owned("child", root))
    assert [ref.name for ref in (await opened(cluster, WIDGETS, config("stays"))).taken.objects.values()] == ["theirs"]


@pytest.mark.parametrize(("limit", "reason"), [("3", "more than the limit of 3"), ("4", "approve with")])
async def test_what_goes_along_counts_against_the_limit(cluster: MemoryCluster, limit: str, reason: str) -> None:
    cluster.seed(config("one", "team"), config("two", "team"))
    pruning = await opened(cluster, WIDGETS, config("stays"), budget=Budget.read(limit))
    assert reason in pruning.steps[0].reason
    assert ("more than the limit" in pruning.steps[0].reason) == (limit == "3")


async def test_what_may_not_be_looked_at_is_asked_for_too(cluster: MemoryCluster) -> None:
    denied = Forbidden(403, "Forbidden", "you cannot list secrets in team")
    cluster.fail(
        lambda request: (request.verb, request.resource.plural, request.namespace) == ("list", "secrets", "team"), denied, times=-1
    )
    pruning = await opened(cluster, WIDGETS, config("stays"))
    assert (
        "with Namespace/team objects that cannot be listed for lack of permission (you cannot list secrets in team)"
        in pruning.steps[0].reason
    )


async def test_what_cannot_be_found_out_is_an_error(cluster: MemoryCluster) -> None:
    broken = ServerFailure(500, "InternalError", "no answer")
    cluster.fail(
        lambda request: (request.verb, request.resource.plural, request.namespace) == ("list", "secrets", "team"), broken, times=-1
    )
    with pytest.raises(ServerFailure):
        await opened(cluster, WIDGETS, config("stays"))


async def test_nothing_is_looked_at_when_no_namespace_goes(cluster: MemoryCluster) -> None:
    cluster.forget_requests()
    await opened(cluster, SPACE, WIDGETS, config("mine", "team"))
    assert {request.resource.plural for request in cluster.log} <= {"secrets", "configmaps", "namespaces", "customresourcedefinitions"}


async def test_a_whole_set_is_held_as_well(cluster: MemoryCluster) -> None:
    cluster.seed(config("theirs", "team"))
    deletion = Deleter(cluster, seconds=0.05, wait_for_all=True)
    held = await delete_set(applyset(), deletion)
    assert {outcome.action for outcome in held} == {Action.HELD}
    approval = held[0].reason.rpartition(" ")[2]
    assert set(said(await delete_set(applyset(), deletion, approval)).values()) == {"pruned"}


async def test_a_set_whose_record_is_in_its_own_namespace_goes_with_it_last() -> None:
    cluster = MemoryCluster(namespaces=("default", "team"))
    of = applyset(kind=CONFIG_MAP, namespace="team")
    await run(cluster, SPACE, config("a", "team"), config("b"), of=of)
    outcomes = await delete_set(of, Deleter(cluster, seconds=1.0, wait_for_all=True))
    assert list(said(outcomes).items())[:3] in (
        [("a", "pruned"), ("b", "pruned"), ("team", "pruned")],
        [("b", "pruned"), ("a", "pruned"), ("team", "pruned")],
    )


async def test_a_namespace_with_the_record_stays_while_a_member_does() -> None:
    cluster = MemoryCluster(namespaces=("default", "team"))
    of = applyset(kind=CONFIG_MAP, namespace="team")
    await run(cluster, SPACE, config("a", "team"), config("b"), of=of)
    cluster.fail(lambda request: request.verb == "delete" and request.name == "b", Forbidden(403, "Forbidden", "no"), times=-1)
    outcomes = await delete_set(of, Deleter(cluster, seconds=1.0, wait_for_all=True))
    assert said(outcomes) == {"a": "pruned", "b": "failed", "team": "held"}
    assert "team/shop" in there(cluster)


@pytest.mark.cluster
async def test_a_real_namespace_with_objects_of_others_is_kept_until_it_is_approved(control_plane: ControlPlane, namespace: str) -> None:
    inner = f"{namespace}-inner"
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inner}}
    of = applyset(kind=Kind("", "v1", "ConfigMap"), namespace=namespace)
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:

        async def again(*manifests: Manifest, approval: str = "") -> tuple[OpenApplySet, list[Outcome]]:
            pruning = await OpenApplySet.open(ApplySetOptions(of, approval=approval), graph(*manifests), cluster)
            await pruning.widen()
            return pruning, await pruning.finish(await written(pruning.graph, cluster), Deleter(cluster))

        await again(space, config("mine", inner), config("stays", namespace))
        await made(cluster, config("theirs", inner))
        pruning, outcomes = await again(config("stays", namespace))
        assert {outcome.action for outcome in outcomes} == {Action.HELD}
        assert list(map(str, pruning.taken.objects.values())) == [f"ConfigMap/{inner}/theirs"]
        _, outcomes = await again(config("stays", namespace), approval=pruning.approval)
        assert said(outcomes) == {"mine": "pruned", inner: "pruned"}


async def made(cluster: ApiCluster, manifest: Manifest) -> None:
    await cluster.create(await cluster.resource(Kind.of(manifest)), manifest, manager="somebody")
