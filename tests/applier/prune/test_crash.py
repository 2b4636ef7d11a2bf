"""A run that is killed at any request leaves what the next run brings to the same end: nothing lost, nothing deleted that is not ours."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from applier.plan.membership import PART_OF
from applier.prune import ApplySetOptions, OpenApplySet
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest
from tests.suite.rows import rows

from .sets import account, annotation, applyset, cluster_role, config, graph, run, there, written


class Killed(BaseException):
    """Ends a run as a kill does: nothing of ours gets to see it."""


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extra"}}
FIRST = (NAMESPACE, config("a"), config("b"), config("c", "extra"), account("d"), cluster_role("e"))
SECOND = (config("b"), config("f", "kube-system"), account("g"))


def strangers(cluster: MemoryCluster) -> None:
    """Objects that are not ours, beside those that are: without a label, of another set, and with our label outside of our record."""
    cluster.seed(config("plain"), account("other", "kube-system"))
    cluster.seed(config("theirs", labels={PART_OF: applyset(name="other").id}))
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "marked", "namespace": "default", "labels": {PART_OF: applyset().id}},
    }
    cluster.seed(secret)


def names(cluster: MemoryCluster) -> set[Ref]:
    return set(cluster.store.objects)


async def end_of(*runs: Sequence[Manifest]) -> set[Ref]:
    """What is there after these runs, none of them killed."""
    cluster = MemoryCluster()
    strangers(cluster)
    for manifests in runs:
        await run(cluster, *manifests)
    return names(cluster)


async def killed_at(number: int, *, after: bool) -> tuple[MemoryCluster, bool]:
    """A cluster after a first run, and a second one killed at a write; whether it came that far."""
    cluster = MemoryCluster()
    strangers(cluster)
    await run(cluster, *FIRST)
    cluster.forget_requests()

    def is_due(request: MemoryRequest) -> bool:
        return request.writes and cluster.writes().index(request) + 1 == number

    cluster.fail(is_due, Killed(), after=after)
    try:
        await run(cluster, *SECOND)
    except Killed:
        return cluster, True
    finally:
        cluster.faults.clear()
    return cluster, False


WRITES = 10  # the record, three objects, five deletes, the record


@rows("after", [False, True], ids=["before", "after"])
@rows("number", range(1, WRITES + 1))
async def test_the_run_after_a_kill_comes_to_the_same_end(number: int, after: bool) -> None:
    cluster, _ = await killed_at(number, after=after)
    await run(cluster, *SECOND)
    assert names(cluster) == await end_of(FIRST, SECOND)
    assert annotation(cluster, "contains-group-kinds") == "ConfigMap,ServiceAccount"
    assert annotation(cluster, "additional-namespaces") == "kube-system"


async def test_the_last_of_the_writes_is_killed_too() -> None:
    reached = [(await killed_at(number, after=False))[1] for number in (WRITES, WRITES + 1)]
    assert reached == [True, False]


@rows("after", [False, True], ids=["before", "after"])
@rows("number", range(1, WRITES + 1))
async def test_a_kill_leaves_no_member_outside_of_the_record(number: int, after: bool) -> None:
    cluster, _ = await killed_at(number, after=after)
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(), cluster)
    known = {step.ref for step in pruning.steps}
    members = {ref for ref, live in cluster.store.objects.items() if (live["metadata"].get("labels") or {}).get(PART_OF) == applyset().id}
    assert members - known == {Ref("", "Secret", "default", "marked")}


@rows("number", range(1, WRITES + 1))
async def test_a_kill_and_another_wish_come_to_the_end_of_that_wish(number: int) -> None:
    cluster, _ = await killed_at(number, after=True)
    await run(cluster, NAMESPACE, config("a"), config("z", "extra"))
    assert names(cluster) == await end_of(FIRST, (NAMESPACE, config("a"), config("z", "extra")))


objects = st.sampled_from(
    [config(name, space) for name in "abc" for space in ("default", "kube-system")] + [account("d"), cluster_role("e")]
)
wishes = st.lists(objects, max_size=5, unique_by=Ref.of)


@given(st.lists(st.tuples(wishes, st.integers(1, 9), st.booleans()), max_size=4), wishes)
async def test_after_any_kills_the_set_is_what_was_wished_for_last(
    kills: list[tuple[list[Manifest], int, bool]], last: list[Manifest]
) -> None:
    cluster = MemoryCluster()
    strangers(cluster)
    before = names(cluster)
    for wish, number, after in kills:
        cluster.forget_requests()
        cluster.fail(number, Killed(), after=after)
        with suppress(Killed):
            await run(cluster, *wish)
        cluster.faults.clear()
    await run(cluster, *last)
    assert names(cluster) - before - {applyset().parent} == {Ref.of(manifest) for manifest in last}
    assert before <= names(cluster)


async def test_a_run_that_ends_before_pruning_prunes_next_time() -> None:
    cluster = MemoryCluster()
    await run(cluster, config("a"))
    pruning = await OpenApplySet.open(ApplySetOptions(applyset()), graph(account("b")), cluster)
    await pruning.widen()
    await written(pruning.graph, cluster)
    await run(cluster, account("c"))
    assert (there(cluster), there(cluster, "ServiceAccount")) == (set(), {"default/c"})
