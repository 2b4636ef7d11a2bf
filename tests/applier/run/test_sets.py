"""Recorded sets in plans: what would be pruned is seen before, kept for later, and done only while the set is what it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from applier.desired import Desired, Graph
from applier.errors import Unreachable
from applier.events import Planned
from applier.execute.options import ExecuteOptions
from applier.outcome import Action
from applier.plan import InvalidPlan, load
from applier.plan.membership import PART_OF
from applier.prune import ApplySet, ApplySetOptions, Budget
from applier.ref import Kind
from applier.run.difference import diff
from applier.run.live_state import survey
from applier.run.options import ApplyOptions, Report
from applier.run.pipeline import OutOfDate, apply, apply_saved
from applier.testing.memory import MemoryCluster

from ..execute.lab import said
from ..free_schemas import FreeSchemas
from ..things import desired, manifest, ref

SET = ApplySet(Kind("", "v1", "ConfigMap"), "shop", "set", "me/1")
KINDS = "applyset.kubernetes.io/contains-group-kinds"


async def kept(*names: str, kind: str = "ConfigMap") -> MemoryCluster:
    """A cluster with a set of these objects."""
    cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    await run(cluster, *(desired(name, kind, data={"k": "b2xk"}) for name in names))
    cluster.forget_requests()
    return cluster


async def run(cluster: MemoryCluster, *objects: Desired) -> Report:
    return await apply(Graph(objects), cluster, ApplyOptions("me", applyset=ApplySetOptions(SET)))


async def saved(cluster: MemoryCluster, *objects: Desired, **choices: Any) -> bytes:
    return (await survey(Graph(objects), cluster, ApplyOptions("me", applyset=ApplySetOptions(SET, **choices)))).save()


def there(cluster: MemoryCluster) -> set[str]:
    return {found.name for found in cluster.store.objects if found.name in "abc"}


# Seen before.


async def test_a_plan_ends_with_what_would_be_pruned() -> None:
    found = await survey(Graph([desired("c")]), await kept("a", "b"), ApplyOptions("me", applyset=ApplySetOptions(SET)))
    assert [f"{step.ref.name}={step.action}" for step in found.plan.steps] == ["c=created", "a=pruned", "b=pruned"]


async def test_a_plan_of_a_set_that_is_not_pruned_has_only_what_is_written() -> None:
    found = await survey(Graph([desired("c")]), await kept("a"), ApplyOptions("me", applyset=ApplySetOptions(SET, prune=False)))
    assert [step.ref.name for step in found.plan.steps] == ["c"]


async def test_a_plan_says_what_approves_held_deletes() -> None:
    found = await survey(Graph([]), await kept("a"), ApplyOptions("me", applyset=ApplySetOptions(SET, budget=Budget(0))))
    assert ([step.action for step in found.plan.steps], found.approval in found.plan.steps[0].reason) == ([Action.HELD], True)


async def test_looking_writes_nothing() -> None:
    cluster = await kept("a")
    for ask_server in (False, True):
        await diff(Graph([]), cluster, ApplyOptions("me", applyset=ApplySetOptions(SET)), ask_server=ask_server)
    await saved(cluster)
    assert cluster.writes() == []


async def test_a_diff_shows_what_would_be_pruned_as_gone() -> None:
    found = await diff(Graph([]), await kept("a"), ApplyOptions("me", applyset=ApplySetOptions(SET)))
    assert [(one.step.action, one.live and one.live["data"], one.merged) for one in found] == [(Action.PRUNED, {"k": "b2xk"}, None)]


async def test_a_diff_counts_the_label_of_the_set() -> None:
    cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    await apply(Graph([desired("a")]), cluster, ApplyOptions("me"))
    found = await diff(Graph([desired("a")]), cluster, ApplyOptions("me", applyset=ApplySetOptions(SET)))
    assert [one.merged and one.merged["metadata"]["labels"] for one in found] == [{PART_OF: SET.id}]


async def test_a_diff_never_shows_values_of_secrets_that_would_be_pruned() -> None:
    found = await diff(Graph([]), await kept("a", kind="Secret"), ApplyOptions("me", applyset=ApplySetOptions(SET)))
    assert ([one.step.action for one in found], "b2xk" in str(found)) == ([Action.PRUNED], False)


# Kept for later.


async def test_a_plan_that_was_kept_prunes() -> None:
    cluster = await kept("a", "b")
    report = await apply_saved(load(await saved(cluster, desired("c"))), cluster)
    assert (said(report.outcomes), there(cluster)) == ("c=created a=pruned b=pruned", {"c"})


async def test_a_plan_that_was_kept_makes_members_and_a_true_record() -> None:
    cluster = await kept("a")
    await apply_saved(load(await saved(cluster, desired("s", "ServiceAccount"))), cluster)
    made, record = cluster.find(ref("s", "ServiceAccount")), cluster.find(SET.parent)
    assert made and record
    assert (made["metadata"]["labels"], record["metadata"]["annotations"][KINDS]) == ({PART_OF: SET.id}, "ServiceAccount")


async def test_a_plan_that_was_kept_makes_the_set() -> None:
    cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    assert said((await apply_saved(load(await saved(cluster, desired("a"))), cluster)).outcomes) == "a=created"
    assert cluster.find(SET.parent)


async def test_the_record_is_wide_before_anything_is_written_and_true_after_all() -> None:
    cluster = await kept("a")
    plan = load(await saved(cluster, desired("s", "ServiceAccount")))
    cluster.forget_requests()
    await apply_saved(plan, cluster)
    order = [request.name for request in cluster.log if request.writes]
    assert (order[0], order[-2:], order.count("set")) == ("set", ["a", "set"], 2)


async def test_each_delete_carries_the_uid_that_was_planned() -> None:
    cluster = await kept("a")
    plan = load(await saved(cluster))
    replaced = False

    async def replace(request: Any) -> None:
        nonlocal replaced
        if request.verb == "delete" and not replaced:
            replaced = True
            cluster.store.remove(ref("a"))
            cluster.seed(manifest("a", metadata={"labels": {PART_OF: SET.id}}))

    cluster.before = replace
    assert said((await apply_saved(plan, cluster)).outcomes) == "a=unchanged"
    assert there(cluster) == {"a"}


async def test_what_is_held_in_the_plan_stays_held() -> None:
    cluster = await kept("a", "b")
    report = await apply_saved(load(await saved(cluster, budget=Budget(1))), cluster)
    assert (said(report.outcomes), there(cluster)) == ("a=held b=held", {"a", "b"})


async def test_a_plan_with_an_approval_needs_it_no_more() -> None:
    cluster = await kept("a", "b")
    options = ApplyOptions("me", applyset=ApplySetOptions(SET, budget=Budget(0)))
    approval = (await survey(Graph([]), cluster, options)).approval
    report = await apply_saved(load(await saved(cluster, budget=Budget(0), approval=approval)), cluster)
    assert said(report.outcomes) == "a=pruned b=pruned"


async def test_nothing_is_pruned_when_something_failed() -> None:
    cluster = await kept("a")
    plan = load(await saved(cluster, desired("c")))
    cluster.fail(lambda request: request.writes and request.name == "c", Unreachable("broken", passing=False), times=-1)
    assert said((await apply_saved(plan, cluster)).outcomes) == "c=failed a=held"


async def test_a_dry_run_of_a_plan_writes_nothing() -> None:
    cluster = await kept("a")
    plan = load(await saved(cluster))
    assert said((await apply_saved(plan, cluster, ExecuteOptions(dry_run=True))).outcomes) == "a=pruned"
    assert cluster.writes() == []


async def test_what_is_pruned_is_counted_before_the_run() -> None:
    cluster, events = await kept("a"), list[Any]()
    await apply_saved(load(await saved(cluster, desired("c"))), cluster, ExecuteOptions(sink=events.append))
    assert [event.counts for event in events if isinstance(event, Planned)] == [{Action.CREATED: 1, Action.PRUNED: 1}]


async def test_a_plan_that_prunes_secrets_needs_and_holds_no_values() -> None:
    cluster = await kept("a", kind="Secret")
    plan = await saved(cluster)
    assert b"b2xk" not in plan
    assert said((await apply_saved(load(plan), cluster)).outcomes) == "a=pruned"


async def test_the_input_may_be_given_again() -> None:
    cluster = await kept("a")
    graph = Graph([desired("s", "Secret", data={"k": "bmV3"})])
    plan = load((await survey(graph, cluster, ApplyOptions("me", applyset=ApplySetOptions(SET)))).save())
    assert said((await apply_saved(plan.with_input(graph), cluster)).outcomes) == "s=created a=pruned"


MEMBER: dict[str, Any] = {"metadata": {"labels": {PART_OF: SET.id}}}
CHANGES: list[tuple[Callable[[MemoryCluster], object], str]] = [
    (lambda cluster: cluster.seed(manifest("b", **MEMBER)), "ConfigMap/shop/b is a member of the ApplySet that the plan does not contain"),
    (lambda cluster: cluster.store.remove(ref("a")), "ConfigMap/shop/a is gone, or no longer a member of the ApplySet"),
    (lambda cluster: cluster.seed(manifest("a", data={"k": "edited"}, **MEMBER)), "ConfigMap/shop/a has changed"),
]


@pytest.mark.parametrize(("change", "reason"), CHANGES)
async def test_a_plan_is_refused_when_the_members_have_changed(change: Callable[[MemoryCluster], object], reason: str) -> None:
    cluster = await kept("a")
    plan = load(await saved(cluster, desired("c")))
    change(cluster)
    cluster.forget_requests()
    with pytest.raises(OutOfDate) as caught:
        await apply_saved(plan, cluster)
    assert (caught.value.reasons, cluster.writes()) == ([reason], [])


async def test_a_plan_is_refused_when_a_member_was_made_again() -> None:
    cluster = await kept("a")
    plan = load(await saved(cluster))
    cluster.store.remove(ref("a"))
    cluster.seed(manifest("a", **MEMBER))
    with pytest.raises(OutOfDate, match="ConfigMap/shop/a was deleted and recreated"):
        await apply_saved(plan, cluster)


async def test_a_plan_is_refused_when_the_record_has_changed() -> None:
    cluster = await kept("a")
    plan = load(await saved(cluster, desired("a", data={"k": "b2xk"})))
    await run(cluster, desired("a", data={"k": "b2xk"}), desired("s", "ServiceAccount"))
    with pytest.raises(OutOfDate, match="the record of the ApplySet, ConfigMap/shop/set, has changed"):
        await apply_saved(plan, cluster)


async def test_a_plan_with_half_a_set_is_refused() -> None:
    cluster = await kept("a")
    plan = load(await saved(cluster))
    del plan.applyset["parent"]
    with pytest.raises(InvalidPlan, match="not a complete saved plan"):
        await apply_saved(plan, cluster)


async def test_whatever_write_is_the_last_the_next_run_ends_the_same() -> None:
    number = 0
    while await dies_before(number):
        number += 1
    assert number == 5  # record, object, two deletes, record


async def dies_before(number: int) -> bool:
    """Whether a plan that is carried out comes to a write of this number, counted from 0. The process dies there, and another follows."""
    cluster, wanted = await kept("a", "b"), desired("c", "ServiceAccount")
    plan, left = load(await saved(cluster, wanted)), number
    usual = cluster.before

    async def die(request: Any) -> None:
        nonlocal left
        left -= request.writes
        if left < 0:
            raise Died

    cluster.before = die
    try:
        await apply_saved(plan, cluster)
    except Died:
        cluster.before = usual
        await run(cluster, wanted)
    cluster.before = usual
    record = cluster.find(SET.parent)
    assert (there(cluster), record and record["metadata"]["annotations"][KINDS]) == ({"c"}, "ServiceAccount")
    return left < 0


class Died(BaseException):
    """The process is gone."""
