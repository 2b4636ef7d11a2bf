"""Whatever write of an apply, a saved plan or a deletion is the last before a kill: the next run comes to the same end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from applier.desired import Graph
from applier.plan import load
from applier.plan.membership import PART_OF
from applier.prune import ApplySet, ApplySetOptions, Deleter, OpenApplySet, delete_set
from applier.ref import Kind, Manifest, Ref
from applier.run.live_state import survey
from applier.run.options import ApplyOptions
from applier.run.pipeline import apply, apply_saved
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest
from tests.suite.rows import rows

from ..free_schemas import FreeSchemas
from ..things import desired

HOME = ApplySet(Kind("", "v1", "Secret"), "team", "set", "me/1")
THEIRS: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": "shop"}}
FIRST = Graph(
    [desired("team", "Namespace"), desired("a", namespace="team"), desired("old", namespace="shop"), desired("older", namespace="shop")]
)
SECOND = Graph([desired("team", "Namespace"), desired("a", namespace="team", data={"x": "1"}), desired("b", namespace="shop")])

Run = Callable[[MemoryCluster], Awaitable[object]]


class Killed(BaseException):
    """Ends a run as a kill does: nothing of ours gets to see it."""


async def apply_first(cluster: MemoryCluster) -> None:
    await apply(FIRST, cluster, ApplyOptions("me", applyset=ApplySetOptions(HOME)))


async def apply_second(cluster: MemoryCluster) -> None:
    await apply(SECOND, cluster, ApplyOptions("me", applyset=ApplySetOptions(HOME)))


async def plan_and_apply(cluster: MemoryCluster) -> None:
    found = await survey(SECOND, cluster, ApplyOptions("me", applyset=ApplySetOptions(HOME)))
    await apply_saved(load(found.save()), cluster)


async def delete_all(cluster: MemoryCluster) -> None:
    await delete_set(HOME, Deleter(cluster, seconds=1.0, wait_for_all=True))


RUNS: dict[str, tuple[list[Run], Run]] = {
    "a first apply that makes the namespace of its record": ([], apply_first),
    "an apply that prunes": ([apply_first], apply_second),
    "a saved plan": ([apply_first], plan_and_apply),
    "a saved plan of a new set": ([], plan_and_apply),
    "the deletion of a set with the namespace of its record": ([apply_second], delete_all),
}


async def ready(before: list[Run]) -> MemoryCluster:
    cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    cluster.seed(THEIRS)
    for run in before:
        await run(cluster)
    cluster.forget_requests()
    return cluster


async def killed(which: str, number: int, *, after: bool) -> tuple[MemoryCluster, bool]:
    """A cluster on which a run was killed at a write; whether it came that far."""
    before, run = RUNS[which]
    cluster = await ready(before)

    def is_due(request: MemoryRequest) -> bool:
        return request.writes and cluster.writes().index(request) + 1 == number

    cluster.fail(is_due, Killed(), after=after)
    try:
        await run(cluster)
    except Killed:
        return cluster, True
    finally:
        cluster.faults.clear()
    return cluster, False


def content(cluster: MemoryCluster) -> dict[Ref, object]:
    """What is there, without what says when and how it was written."""
    return {
        ref: (live.get("data"), live["metadata"].get("labels"), live["metadata"].get("annotations"))
        for ref, live in cluster.store.objects.items()
    }


async def writes(which: str) -> int:
    before, run = RUNS[which]
    cluster = await ready(before)
    await run(cluster)
    return len(cluster.writes())


@rows("after", [False, True], ids=["before", "after"])
@rows("which", RUNS)
async def test_the_next_run_comes_to_the_same_end(which: str, after: bool) -> None:
    before, run = RUNS[which]
    whole = await ready(before)
    await run(whole)
    for number in range(1, await writes(which) + 1):
        cluster, reached = await killed(which, number, after=after)
        assert reached, number
        await run(cluster)
        assert content(cluster) == content(whole), number
        assert Ref.of(THEIRS) in content(cluster)


@pytest.mark.parametrize("which", [which for which in RUNS if which != "a first apply that makes the namespace of its record"])
async def test_a_kill_leaves_no_member_that_the_record_does_not_lead_to(which: str) -> None:
    for number in range(1, await writes(which) + 1):
        cluster, _ = await killed(which, number, after=True)
        members = {ref for ref, live in cluster.store.objects.items() if (live["metadata"].get("labels") or {}).get(PART_OF) == HOME.id}
        if HOME.parent not in cluster.store.objects and members <= {Ref("", "Namespace", "", "team")}:
            continue  # the namespace is made before the record that stands in it, and goes with it
        opened = await OpenApplySet.open(ApplySetOptions(HOME), Graph([]), cluster, whole=True)
        assert members <= {step.ref for step in opened.steps}, number
