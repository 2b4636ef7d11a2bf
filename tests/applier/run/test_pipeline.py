"""Whole runs: what is there is read, a plan made and carried out, the rest pruned and waited for, and an account given."""

from __future__ import annotations

from typing import Any, cast

import pytest

from applier.decision import Schemas
from applier.desired import Desired, Graph, Policy
from applier.errors import Forbidden, NotFound
from applier.events import Finished, Planned, RunEnded
from applier.outcome import Action
from applier.plan import load, save
from applier.prune import ApplySet, ApplySetOptions, Budget
from applier.ref import Kind, Ref
from applier.run.difference import diff
from applier.run.live_state import survey
from applier.run.options import ApplyOptions, Report, WaitFor
from applier.run.pipeline import OutOfDate, apply, apply_saved
from applier.stop import Stop
from applier.testing.memory import MemoryCluster

from ..execute.lab import said
from ..free_schemas import FreeSchemas
from ..things import definition, desired, manifest, ref

SET = ApplySet(Kind("", "v1", "ConfigMap"), "shop", "set", "me/1")
DENIED = Forbidden(403, "Forbidden", "admission refused it")


def memory() -> MemoryCluster:
    return MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())


async def run(cluster: MemoryCluster, *objects: Desired, **options: Any) -> Report:
    return await apply(Graph(objects), cluster, ApplyOptions("me", **options))


async def text(cluster: MemoryCluster, *objects: Desired, **options: Any) -> str:
    return said((await run(cluster, *objects, **options)).outcomes)


async def test_a_graph_is_made_true() -> None:
    cluster = memory()
    assert await text(cluster, desired("b", owner=ref("a")), desired("a")) == "a=created b=created"


async def test_a_run_that_changes_nothing_only_reads() -> None:
    cluster = memory()
    await run(cluster, desired("a", data={"x": "1"}))
    report = await run(cluster, desired("a", data={"x": "1"}))
    assert (dict(report.requests), report.counts) == ({("get", "configmaps"): 1}, {Action.UNCHANGED: 1})


async def test_an_owner_that_is_no_part_of_the_graph_is_read_with_it() -> None:
    cluster = memory()
    cluster.seed(manifest("a"))
    await run(cluster, desired("b", owner=ref("a"), data={"x": "1"}))
    report = await run(cluster, desired("b", owner=ref("a"), data={"x": "1"}))
    assert report.counts == {Action.UNCHANGED: 1}


async def test_where_nothing_can_be_read_that_is_an_error_before_anything_is_written() -> None:
    cluster = memory()
    cluster.fail("get", Forbidden(403, "Forbidden", "you cannot get configmaps"))
    with pytest.raises(Forbidden):
        await run(cluster, desired("a"))
    assert cluster.writes() == []


async def test_a_kind_that_cannot_be_read_fails_its_objects_only() -> None:
    cluster = memory()
    cluster.fail("get", Forbidden(403, "Forbidden", "you cannot get configmaps"))
    report = await run(cluster, desired("a"), desired("p", "Pod"))
    assert said(report.outcomes) == "a=failed p=created"
    assert report.outcomes[0].reason == "the live object cannot be read: you cannot get configmaps"


async def test_a_kind_that_is_not_served_fails_its_objects_only() -> None:
    report = await run(memory(), desired("e", "Engine"), desired("a"))
    assert said(report.outcomes) == "e=failed a=created"
    assert report.outcomes[0].reason == "the server does not serve Engine in example.com/v1; install its definition first"


async def test_a_kind_that_comes_with_the_graph_is_waited_for() -> None:
    assert await text(memory(), desired("e", "Engine"), definition()) == "engines.example.com=created e=created"


async def test_the_account_says_how_many_requests_and_how_long() -> None:
    report = await run(memory(), desired("a"))
    assert (dict(report.requests), report.seconds > 0) == ({("get", "configmaps"): 1, ("apply", "configmaps"): 1}, True)


async def test_the_run_is_told_from_plan_to_end() -> None:
    events: list[Any] = []
    await run(memory(), desired("a"), sink=events.append)
    assert [type(event) for event in events if isinstance(event, Planned | Finished | RunEnded)] == [Planned, Finished, RunEnded]


async def test_the_same_problem_is_told_once_with_all_objects() -> None:
    cluster = memory()
    cluster.fail("apply", DENIED, times=-1)
    report = await run(cluster, desired("a"), desired("b"), desired("c", "ConfigMap", ref("a")))
    assert report.problems() == {
        "admission refused it": [ref("a"), ref("b")],
        "waits for ConfigMap/shop/a, which failed": [ref("c")],
    }
    assert not report.ok


async def test_a_dry_run_hands_on_what_would_be_there() -> None:
    written: list[Any] = []
    cluster = memory()
    await run(cluster, desired("a"), dry_run=True, after_write=written.append)
    assert [one["metadata"]["name"] for one in written] == ["a"]
    assert cluster.writes() == []


# Sets.


async def test_what_is_no_longer_wanted_is_pruned() -> None:
    cluster = memory()
    await run(cluster, desired("a"), desired("b"), applyset=ApplySetOptions(SET))
    assert await text(cluster, desired("a"), applyset=ApplySetOptions(SET)) == "a=unchanged b=pruned"
    assert cluster.find(ref("b")) is None


async def test_nothing_is_pruned_without_a_set() -> None:
    cluster = memory()
    await run(cluster, desired("a"), desired("b"))
    assert await text(cluster, desired("a")) == "a=unchanged"


async def test_a_set_may_be_kept_without_pruning() -> None:
    cluster = memory()
    await run(cluster, desired("a"), desired("b"), applyset=ApplySetOptions(SET))
    assert await text(cluster, desired("a"), applyset=ApplySetOptions(SET, prune=False)) == "a=unchanged"


async def test_nothing_is_pruned_when_something_failed() -> None:
    cluster = memory()
    await run(cluster, desired("a"), desired("b"), applyset=ApplySetOptions(SET))
    cluster.fail(lambda request: request.verb == "apply" and request.name == "c", DENIED)
    assert await text(cluster, desired("a"), desired("c"), applyset=ApplySetOptions(SET)) == "a=unchanged c=failed b=held"


async def test_too_many_deletes_are_held_with_what_approves_them() -> None:
    cluster = memory()
    await run(cluster, desired("a"), desired("b"), applyset=ApplySetOptions(SET))
    report = await run(cluster, desired("a"), applyset=ApplySetOptions(SET, budget=Budget(0)))
    assert said(report.outcomes) == "a=unchanged b=held"
    assert (
        await text(cluster, desired("a"), applyset=ApplySetOptions(SET, budget=Budget(0), approval=report.approval))
        == "a=unchanged b=pruned"
    )


async def test_a_dry_run_deletes_nothing_and_leaves_no_record() -> None:
    cluster = memory()
    await run(cluster, desired("a"), desired("b"), applyset=ApplySetOptions(SET))
    cluster.forget_requests()
    assert await text(cluster, desired("a"), applyset=ApplySetOptions(SET), dry_run=True) == "a=unchanged b=pruned"
    assert cluster.writes() == []


async def test_a_record_that_cannot_be_written_in_the_end_is_told_and_hides_nothing() -> None:
    cluster = memory()
    await run(cluster, desired("a"), desired("b", "Pod"), applyset=ApplySetOptions(SET))
    cluster.fail(lambda request: request.writes and request.name == "set", DENIED, times=-1)
    report = await run(cluster, desired("a"), applyset=ApplySetOptions(SET))
    assert said(report.outcomes) == "a=unchanged b=pruned set=failed"
    assert not report.ok


# Waiting.


async def test_a_run_may_wait_until_all_is_ready() -> None:
    report = await run(memory(), desired("a"), wait=WaitFor(5))
    assert ([one.ref for one in report.waited], report.ok) == ([ref("a")], True)


async def test_what_is_not_ready_in_time_is_a_problem_with_its_reason() -> None:
    report = await run(memory(), desired("p", "Pod"), wait=WaitFor(0.05))
    assert [refs for reason, refs in report.problems().items() if "not ready after" in reason] == [[ref("p", "Pod")]]


async def test_nothing_is_waited_for_when_something_failed() -> None:
    cluster = memory()
    cluster.fail("apply", DENIED)
    assert (await run(cluster, desired("a"), wait=WaitFor(5))).waited == []


async def test_a_watch_that_is_refused_is_told_and_hides_nothing() -> None:
    cluster = memory()
    cluster.fail("list", DENIED)
    report = await run(cluster, desired("a"), wait=WaitFor(5))
    assert (said(report.outcomes), report.errors) == ("a=created", ["admission refused it"])


# Stopping.


async def test_a_run_that_is_stopped_prunes_nothing_and_waits_for_nothing() -> None:
    cluster, stop = memory(), Stop()
    await run(cluster, desired("a"), desired("b"), applyset=ApplySetOptions(SET))
    stop.cancel()
    report = await run(cluster, desired("a"), applyset=ApplySetOptions(SET), wait=WaitFor(60), stop=stop)
    assert (said(report.outcomes), report.waited) == ("a=unchanged b=held", [])


async def test_a_run_that_is_stopped_while_it_waits_ends_at_once() -> None:
    cluster, stop = memory(), Stop()

    async def stop_at_list(request: Any) -> None:
        if request.verb == "list":
            stop.cancel()

    cluster.before = stop_at_list
    report = await run(cluster, desired("p", "Pod"), wait=WaitFor(60), stop=stop)
    assert (said(report.outcomes), report.errors) == ("p=created", ["the run was stopped before everything was ready"])


# Saved plans.


async def saved(cluster: MemoryCluster, *objects: Desired) -> bytes:
    graph = Graph(objects)
    return save((await survey(graph, cluster, ApplyOptions("me"))).plan, graph)


async def test_a_plan_can_be_carried_out_later() -> None:
    cluster = memory()
    await run(cluster, desired("a", data={"x": "1"}))
    plan = await saved(cluster, desired("a", data={"x": "2"}), desired("b", "ConfigMap", ref("a")))
    assert said((await apply_saved(load(plan), cluster)).outcomes) == "a=configured b=created"


async def test_a_plan_that_no_longer_holds_is_refused_with_every_reason() -> None:
    cluster = memory()
    cluster.seed(manifest("a"), manifest("b"))
    plan = await saved(cluster, desired("a", data={"x": "2"}), desired("b"), desired("c"))
    cluster.seed(manifest("a", data={"y": "1"}), manifest("c"))
    cluster.store.remove(ref("b"))
    with pytest.raises(OutOfDate) as caught:
        await apply_saved(load(plan), cluster)
    assert caught.value.reasons == [
        "ConfigMap/shop/a has changed",
        "ConfigMap/shop/b is gone",
        "ConfigMap/shop/c exists now",
    ]


async def test_an_object_that_changes_while_a_plan_is_carried_out_is_held() -> None:
    cluster = memory()
    await run(cluster, desired("a", data={"x": "1"}))
    plan = await saved(cluster, desired("a", data={"x": "2"}))
    changed = False

    async def change(request: Any) -> None:
        nonlocal changed
        if request.verb == "apply" and not changed:
            changed = True
            cluster.seed(manifest("a", data={"x": "1", "y": "1"}), manager="somebody")

    cluster.before = change
    report = await apply_saved(load(plan), cluster)
    assert said(report.outcomes) == "a=held"
    assert report.outcomes[0].reason.startswith("has changed since the plan was made")


async def test_a_plan_that_writes_secrets_asks_for_their_values() -> None:
    cluster, secret = memory(), desired("s", "Secret", data={"k": "dg=="})
    plan = load(await saved(cluster, secret))
    with pytest.raises(OutOfDate, match="whose values are not in the plan"):
        await apply_saved(plan, cluster)
    assert said((await apply_saved(plan.with_input(Graph([secret])), cluster)).outcomes) == "s=created"
    assert (cluster.find(ref("s", "Secret")) or {})["data"] == {"k": "dg=="}


# Differences.


async def test_a_diff_writes_nothing() -> None:
    cluster = memory()
    await diff(Graph([desired("a"), desired("b")]), cluster, ApplyOptions("me"), ask_server=True)
    assert cluster.writes() == []


async def test_a_diff_shows_each_object_as_it_is_and_as_it_would_be() -> None:
    cluster = memory()
    await run(cluster, desired("a", data={"x": "1"}))
    graph = Graph([desired("a", data={"x": "2"}), desired("b", data={"x": "1"})])
    found = await diff(graph, cluster, ApplyOptions("me"))
    shown = [[one and one["data"] for one in (each.live, each.merged)] for each in found]
    assert shown == [[{"x": "1"}, {"x": "2"}], [None, {"x": "1"}]]


async def test_a_diff_never_shows_values_of_secrets() -> None:
    cluster = memory()
    await run(cluster, desired("s", "Secret", data={"k": "b2xk"}))
    graph = Graph([desired("s", "Secret", data={"k": "bmV3"}), desired("t", "Secret", data={"k": "bmV3"})])
    for ask_server in (False, True):
        found = await diff(graph, cluster, ApplyOptions("me"), ask_server=ask_server)
        assert not any(value in str(found) for value in ("b2xk", "bmV3"))
        assert [one.step.action.value for one in found] == ["configured", "created"]


async def test_a_diff_lets_the_server_decide_what_cannot_be_decided_here() -> None:
    cluster = memory()
    cluster._schemas = cast(Schemas, NoSchemas())
    await run(cluster, desired("a", data={"x": "1"}))
    found = await diff(Graph([desired("a", data={"x": "1"})]), cluster, ApplyOptions("me"))
    assert [one.step.action for one in found] == [Action.UNCHANGED]


class NoSchemas:
    def get(self, kind: Kind) -> None:
        return None


async def test_what_would_be_made_again_is_shown_as_new() -> None:
    cluster, policy = memory(), Policy(recreate=True)
    await run(cluster, desired("a", "Service", spec={"clusterIP": "1", "x": "y"}))
    found = await diff(Graph([desired("a", "Service", spec={"clusterIP": "2"}, policy=policy)]), cluster, ApplyOptions("me"))
    assert [one.merged and one.merged["spec"] for one in found] == [{"clusterIP": "2"}]


def test_a_report_of_nothing_is_fine() -> None:
    assert (Report([]).ok, Report([]).problems()) == (True, {})


def test_errors_have_one_line() -> None:
    assert str(OutOfDate(["a", "b"])) == "the plan is no longer valid: a; b"
    assert str(NotFound(404, "NotFound", "gone")) == "gone"
    assert str(Ref("", "ConfigMap", "", "a")) == "ConfigMap/a"
