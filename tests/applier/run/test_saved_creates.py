"""What a saved plan makes: an object that is there by then belongs to whoever made it, and is not touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from applier.desired import Desired, Graph
from applier.errors import Unreachable
from applier.execute.options import ExecuteOptions
from applier.plan import load
from applier.ref import Manifest
from applier.run.live_state import survey
from applier.run.options import ApplyOptions, Report
from applier.run.pipeline import apply, apply_saved
from applier.testing.memory import MemoryCluster

from ..execute.lab import said
from ..free_schemas import FreeSchemas
from ..things import desired, manifest, ref

A = ref("a")
THEIRS = manifest("a", data={"y": "theirs"})
LOST = Unreachable("no answer came", maybe_done=True)


def memory() -> MemoryCluster:
    return MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())


async def carried_out(cluster: MemoryCluster, meanwhile: Callable[[Any], object] | None = None, **options: Any) -> Report:
    """A plan that makes `a`, saved and carried out. `meanwhile` is asked at each request."""
    saved = load((await survey(Graph([desired("a", data={"x": "1"})]), cluster, ApplyOptions("me"))).save())

    async def before(request: Any) -> None:
        if meanwhile:
            meanwhile(request)

    cluster.before = before
    cluster.forget_requests()
    return await apply_saved(saved, cluster, ExecuteOptions(**options))


def once(verb: str, intervention: Callable[[], object]) -> Callable[[Any], None]:
    """Does something before the first request of this verb."""
    due = [intervention]

    def look(request: Any) -> None:
        if request.verb == verb and due:
            due.pop()()

    return look


def live(cluster: MemoryCluster) -> Manifest:
    found = cluster.find(A)
    assert found
    return found


async def test_what_somebody_else_made_at_the_last_moment_is_held_and_left_alone() -> None:
    cluster = memory()
    report = await carried_out(cluster, once("apply", lambda: cluster.seed(THEIRS)))
    assert (said(report.outcomes), live(cluster)["data"]) == ("a=held", {"y": "theirs"})
    assert report.outcomes[0].reason.startswith("has changed since the plan was made")


async def test_what_is_made_is_owned_as_if_applied() -> None:
    cluster = memory()
    assert said((await carried_out(cluster)).outcomes) == "a=created"
    assert [(entry["manager"], entry["operation"]) for entry in live(cluster)["metadata"]["managedFields"]] == [("me", "Apply")]


async def test_nothing_is_left_for_the_next_run() -> None:
    cluster = memory()
    await carried_out(cluster)
    assert await text(cluster, desired("a", data={"x": "1"})) == "a=unchanged"


async def text(cluster: MemoryCluster, *objects: Desired) -> str:
    return said((await apply(Graph(objects), cluster, ApplyOptions("me"))).outcomes)


async def test_what_is_made_takes_one_request() -> None:
    cluster = memory()
    await carried_out(cluster)
    assert [request.verb for request in cluster.log if request.writes] == ["apply"]


async def test_a_lost_answer_is_settled_by_reading() -> None:
    cluster = memory()
    cluster.fail("apply", LOST, after=True)
    assert said((await carried_out(cluster)).outcomes) == "a=created"


async def test_after_a_lost_request_somebody_elses_object_is_left_alone() -> None:
    cluster = memory()
    cluster.fail("apply", LOST)
    report = await carried_out(cluster, once("apply", lambda: cluster.seed(THEIRS)))
    assert (said(report.outcomes), live(cluster)["data"]) == ("a=held", {"y": "theirs"})


async def test_a_dry_run_tries_the_making_only() -> None:
    cluster = memory()
    assert said((await carried_out(cluster, dry_run=True)).outcomes) == "a=created"
    assert (cluster.writes(), cluster.find(A)) == ([], None)
