"""Pruning on a cluster in memory: what goes, what stays, and what the record says before and after."""

from __future__ import annotations

import pytest

from applier.errors import ServerFailure
from applier.events import Event, Finished
from applier.outcome import Action, Outcome, Step
from applier.plan.membership import PART_OF
from applier.prune import ApplySetError, ApplySetOptions, Deleter, OpenApplySet
from applier.ref import Ref, resource_version_of, uid_of
from applier.testing.memory import MemoryCluster

from .sets import account, annotation, applyset, cluster_role, config, graph, run, said, selectors_of_lists, there

A = Ref.of(config("a"))


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


async def test_what_is_no_longer_wanted_is_deleted(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), config("b"), config("c"))
    assert said(await run(cluster, config("b"))) == {"a": "pruned", "c": "pruned"}
    assert there(cluster) == {"default/b"}


async def test_a_first_run_prunes_nothing_and_lists_nothing(cluster: MemoryCluster) -> None:
    assert await run(cluster, config("a")) == []
    assert not [request for request in cluster.log if request.verb == "list"]


async def test_objects_without_the_label_stay(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    cluster.seed(config("stranger"))
    await run(cluster)
    assert there(cluster) == {"default/stranger"}


async def test_objects_of_another_set_stay(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    await run(cluster, config("b"), of=applyset(name="other"))
    await run(cluster)
    assert there(cluster) == {"default/b"}


async def test_members_are_looked_for_only_where_the_record_says(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    cluster.seed(config("elsewhere", "kube-system", labels={PART_OF: applyset().id}))
    await run(cluster)
    assert there(cluster) == {"kube-system/elsewhere"}


async def test_objects_of_several_kinds_and_namespaces_are_pruned(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), config("b", "kube-system"), account("c"), cluster_role("d"))
    assert said(await run(cluster)) == {"a": "pruned", "b": "pruned", "c": "pruned", "d": "pruned"}


async def test_the_record_is_narrow_after_a_run(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), config("b", "kube-system"), account("c"))
    await run(cluster, config("a"))
    assert (annotation(cluster, "contains-group-kinds"), annotation(cluster, "additional-namespaces")) == ("ConfigMap", "")


async def test_the_record_is_wide_before_anything_is_written(cluster: MemoryCluster) -> None:
    await run(cluster, config("a", "kube-system"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(account("b")), cluster)
    await pruning.widen()
    assert annotation(cluster, "contains-group-kinds") == "ConfigMap,ServiceAccount"
    assert annotation(cluster, "additional-namespaces") == "kube-system"


async def test_a_run_that_changes_nothing_writes_nothing_of_the_set(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    cluster.forget_requests()
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("a")), cluster)
    await pruning.widen()
    await pruning.finish([], Deleter(cluster))
    assert cluster.writes() == []


async def test_nothing_is_pruned_when_something_could_not_be_applied(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), config("b"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("b")), cluster)
    await pruning.widen()
    failed = Outcome(Step(Ref("", "ConfigMap", "default", "b"), Action.CONFIGURED), Action.FAILED)
    [held] = await pruning.finish([failed], Deleter(cluster))
    assert (held.action, held.reason) == (Action.HELD, "of the ApplySet, 1 failed: nothing is pruned before everything is applied")
    assert there(cluster) == {"default/a", "default/b"}


async def test_all_that_is_undone_is_counted(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(), cluster)
    undone = [Outcome(Step(A, Action.CONFIGURED), action) for action in (Action.HELD, Action.FAILED, Action.HELD)]
    [held] = await pruning.finish(undone, Deleter(cluster))
    assert held.reason == "of the ApplySet, 1 failed and 2 held: nothing is pruned before everything is applied"


@pytest.mark.parametrize("broken", ["nothing", "the apply", "the record"])
async def test_what_became_of_each_object_is_told_too(cluster: MemoryCluster, broken: str) -> None:
    await run(cluster, config("a"), account("b"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(), cluster)
    if broken == "the record":
        cluster.fail("apply", ServerFailure(500, "InternalError", "no"), times=-1)
    failed = Outcome(Step(A, Action.CONFIGURED), Action.FAILED)
    told: list[Event] = []
    outcomes = await pruning.finish([failed] if broken == "the apply" else [], Deleter(cluster, sink=told.append))
    assert [event.outcome for event in told if isinstance(event, Finished)] == outcomes


async def test_the_record_stays_wide_when_something_could_not_be_deleted(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    cluster.fail("delete", ServerFailure(500, "InternalError", "no"), times=-1)
    assert said(await run(cluster, config("a"))) == {"b": "failed"}
    assert annotation(cluster, "contains-group-kinds") == "ConfigMap,ServiceAccount"


async def test_a_record_that_cannot_be_written_in_the_end_is_told_beside_what_was_deleted(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("a")), cluster)
    cluster.fail("apply", ServerFailure(500, "InternalError", "no"), times=-1)
    pruned, parent = await pruning.finish([], Deleter(cluster))
    assert (pruned.action, parent.action) == (Action.PRUNED, Action.FAILED)
    assert (parent.step.ref, parent.reason) == (applyset().parent, "the record of the ApplySet could not be written: no")
    assert (parent.uid, type(parent.error)) == (uid_of(cluster.store.objects[applyset().parent]), ServerFailure)


async def test_a_list_that_fails_ends_the_run_before_anything_is_written(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    cluster.forget_requests()
    cluster.fail("list", ServerFailure(500, "InternalError", "the list failed"), times=-1)
    with pytest.raises(ApplySetError, match="the list failed"):
        await run(cluster, config("a"))
    assert cluster.writes() == []


async def test_the_parent_is_never_pruned(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), of=applyset(kind=SET_KIND))
    parent = cluster.find(applyset(kind=SET_KIND).parent)
    assert parent is not None
    labels = {**parent["metadata"]["labels"], PART_OF: applyset(kind=SET_KIND).id}
    cluster.seed({**parent, "metadata": {**parent["metadata"], "labels": labels}})
    await run(cluster, config("b"), of=applyset(kind=SET_KIND))
    assert there(cluster) == {"default/shop", "default/b"}


SET_KIND = applyset().kind._replace(kind="ConfigMap")


async def test_a_label_copied_by_a_controller_makes_no_member(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    owner = [{"apiVersion": "v1", "kind": "Service", "name": "s", "uid": "1", "controller": True}]
    cluster.seed(config("copy", labels={PART_OF: applyset().id}, ownerReferences=owner), manager="endpointslice-controller")
    await run(cluster, config("a"))
    assert there(cluster) == {"default/a", "default/copy"}


async def test_a_member_that_an_owner_controls_is_pruned(cluster: MemoryCluster) -> None:
    owner = [{"apiVersion": "v1", "kind": "Service", "name": "s", "uid": "1", "controller": True}]
    await run(cluster, config("a", ownerReferences=owner))
    assert said(await run(cluster)) == {"a": "pruned"}


async def test_an_object_that_left_the_set_in_the_meantime_stays(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), config("b"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("b")), cluster)
    cluster.seed(config("a"))
    [outcome] = await pruning.finish([], Deleter(cluster))
    assert (outcome.action, outcome.reason) == (Action.UNCHANGED, "is no longer a member of the ApplySet")
    assert there(cluster) == {"default/a", "default/b"}


async def test_an_object_that_only_changed_in_the_meantime_goes(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), config("b"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("b")), cluster)
    cluster.seed(config("a", labels={PART_OF: applyset().id, "touched": "yes"}))
    [outcome] = await pruning.finish([], Deleter(cluster))
    assert outcome.action is Action.PRUNED
    assert there(cluster) == {"default/b"}


async def test_another_object_of_the_same_name_stays(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), config("b"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("b")), cluster)
    cluster.store.remove(Ref("", "ConfigMap", "default", "a"))
    cluster.seed(config("a", labels={PART_OF: applyset().id}))
    [outcome] = await pruning.finish([], Deleter(cluster))
    assert outcome.action is Action.UNCHANGED
    assert there(cluster) == {"default/a", "default/b"}


@pytest.mark.parametrize("said_by", ["outcome", "step"])
async def test_an_object_that_the_apply_left_in_place_under_another_name_stays(cluster: MemoryCluster, said_by: str) -> None:
    await run(cluster, config("a"), config("b"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("b")), cluster)
    [uid] = [step.uid for step in pruning.steps]
    step = Step(Ref("", "ConfigMap", "default", "b"), Action.CONFIGURED, uid=uid if said_by == "step" else "")
    outcome = Outcome(step, Action.CONFIGURED, uid=uid if said_by == "outcome" else "")
    assert await pruning.finish([outcome], Deleter(cluster)) == []
    assert there(cluster) == {"default/a", "default/b"}


async def test_a_step_says_why_and_when_its_object_goes(cluster: MemoryCluster) -> None:
    owner = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "1"}]
    await run(cluster, config("a"), config("b", ownerReferences=owner, finalizers=["example.org/hold", "example.org/keep"]))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(), cluster)
    assert [(step.ref.name, step.wave, step.reason) for step in pruning.steps] == [
        ("b", 0, "is no longer in the ApplySet; waits for example.org/hold, example.org/keep"),
        ("a", 1, "is no longer in the ApplySet"),
    ]


async def test_a_step_is_about_the_version_that_was_read(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    [step] = (await OpenApplySet.open(ApplySetOptions(applyset()), graph(), cluster)).steps
    assert (step.uid, step.resource_version) == (uid_of(cluster.store.objects[A]), resource_version_of(cluster.store.objects[A]))


async def test_an_object_that_is_gone_already_counts_as_pruned(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), config("b"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("b")), cluster)
    cluster.store.remove(Ref("", "ConfigMap", "default", "a"))
    [outcome] = await pruning.finish([], Deleter(cluster))
    assert (outcome.action, outcome.reason) == (Action.PRUNED, "was already deleted")


async def test_a_namespace_that_holds_wanted_objects_is_held(cluster: MemoryCluster) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extra"}}
    await run(cluster, namespace, config("a", "extra"))
    [outcome] = await run(cluster, config("a", "extra"))
    assert (outcome.action, outcome.reason) == (Action.HELD, "would take ConfigMap/extra/a with it")


async def test_of_many_objects_that_would_go_along_one_is_named(cluster: MemoryCluster) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extra"}}
    inside = [config(name, "extra") for name in "abc"]
    await run(cluster, namespace, *inside)
    [outcome] = await run(cluster, *inside)
    assert outcome.reason == "would take ConfigMap/extra/a with it and 2 more"


async def test_a_namespace_that_holds_the_record_is_held(cluster: MemoryCluster) -> None:
    extra = applyset(namespace="extra")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extra"}}
    cluster.seed(namespace)
    await run(cluster, namespace, of=extra)
    [outcome] = await run(cluster, of=extra)
    assert (outcome.action, outcome.reason) == (Action.HELD, "would take Secret/extra/shop with it")


async def test_an_object_being_deleted_is_reported_with_its_finalizers_and_not_deleted_again(cluster: MemoryCluster) -> None:
    await run(cluster, config("a", finalizers=["example.org/hold"]))
    await run(cluster, config("b"))
    cluster.forget_requests()
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(config("b")), cluster)
    [outcome] = await pruning.finish([], Deleter(cluster))
    assert outcome.reason == "has been terminating since 2026-01-01T00:00:00Z, held by example.org/hold"
    assert "delete" not in [request.verb for request in cluster.log]


async def test_what_rests_on_nothing_else_is_deleted_first(cluster: MemoryCluster) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extra"}}
    await run(cluster, namespace, config("a", "extra"), account("b", "extra"))
    cluster.forget_requests()
    await run(cluster)
    assert [request.resource.kind.kind for request in cluster.log if request.verb == "delete"] == [
        "ConfigMap",
        "ServiceAccount",
        "Namespace",
    ]


async def test_only_members_are_watched_while_they_go(cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    await run(cluster, config("a", finalizers=["example.org/hold"]))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(), cluster)
    asked = selectors_of_lists(cluster, monkeypatch)
    await pruning.finish([], Deleter(cluster, seconds=0.05, wait_for_all=True))
    assert asked == [applyset().selector]


async def test_what_an_object_with_a_finalizer_rests_on_is_held_until_it_is_gone(cluster: MemoryCluster) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extra"}}
    await run(cluster, namespace, config("a", "extra", finalizers=["example.org/hold"]))
    assert said(await run(cluster)) == {"a": "pruned", "extra": "held"}
