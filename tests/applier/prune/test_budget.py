"""How much may be deleted in one run, and how more is approved."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.errors import ApplierError
from applier.outcome import Action
from applier.prune import ApplySetOptions, Budget, OpenApplySet
from applier.prune.open_applyset import approval_hash, approves
from applier.testing.memory import MemoryCluster
from tests.suite.rows import rows

from .sets import applyset, config, graph, run, said, there


@rows(
    ("text", "deletes", "members", "allowed"),
    [
        ("0", 0, 10, True),
        ("0", 1, 10, False),
        ("3", 3, 3, True),
        ("3", 4, 1000, False),
        ("10%", 1, 10, True),
        ("10%", 1, 9, False),
        ("10%", 100, 1000, True),
        ("10%", 101, 1000, False),
        ("12.5%", 1, 8, True),
        ("100%", 8, 8, True),
        ("0%", 1, 1000, False),
    ],
)
def test_a_limit_allows(text: str, deletes: int, members: int, allowed: bool) -> None:
    assert Budget.read(text).allows(deletes, members) is allowed


@rows("text", ["", "-1", "1.5", "101%", "ten", "5 %x", "%", "1e3"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(ApplierError, match="is not a limit for pruning: specify a number of objects such as 10, or a percentage"):
        Budget.read(text)


@pytest.mark.parametrize("text", ["0", "17", "5%", "12.5%"])
def test_a_limit_reads_as_it_is_written(text: str) -> None:
    assert str(Budget.read(text)) == text


def test_the_hash_is_that_of_the_uids_in_order() -> None:
    assert approval_hash(["b", "a"]) == hashlib.sha256(b"a\nb\n").hexdigest()


@given(st.sets(st.uuids().map(str)), st.sets(st.uuids().map(str)))
def test_only_the_same_objects_have_the_same_hash(one: set[str], other: set[str]) -> None:
    assert (approval_hash(one) == approval_hash(other)) is (one == other)


@rows(
    ("given_hash", "approved"),
    [("abcdef0123456789", True), ("abcdef012345", True), ("ABCDEF012345", True), ("abcdef01234", False), ("", False), ("b" * 12, False)],
)
def test_the_first_digits_are_enough(given_hash: str, approved: bool) -> None:
    assert approves(given_hash, "abcdef0123456789") is approved


@pytest.fixture
async def cluster() -> MemoryCluster:
    cluster = MemoryCluster()
    await run(cluster, *(config(name) for name in "abcde"))
    return cluster


async def test_within_the_limit_everything_goes(cluster: MemoryCluster) -> None:
    assert said(await run(cluster, config("a"), config("b"), config("c"), limit="40%")) == {"d": "pruned", "e": "pruned"}


async def test_beyond_the_limit_nothing_goes(cluster: MemoryCluster) -> None:
    assert said(await run(cluster, config("a"), config("b"), limit="40%")) == {"c": "held", "d": "held", "e": "held"}
    assert len(there(cluster)) == 5


async def test_what_is_held_says_how_to_approve_it(cluster: MemoryCluster) -> None:
    pruning = await OpenApplySet.open(ApplySetOptions(applyset(), budget=Budget.read("1")), graph(config("a")), cluster)
    assert pruning.steps[0].reason == (
        f"4 of 5 members would be deleted, more than the limit of 1; approve with {approval_hash(step.uid for step in pruning.steps)}"
    )
    assert pruning.approval == approval_hash(step.uid for step in pruning.steps)


async def test_what_is_approved_goes(cluster: MemoryCluster) -> None:
    pruning = await OpenApplySet.open(ApplySetOptions(applyset(), budget=Budget.read("1")), graph(config("a")), cluster)
    assert len(await run(cluster, config("a"), limit="1", approval=pruning.approval)) == 4
    assert there(cluster) == {"default/a"}


async def test_an_approval_is_of_these_objects_only(cluster: MemoryCluster) -> None:
    pruning = await OpenApplySet.open(ApplySetOptions(applyset(), budget=Budget.read("1")), graph(config("a")), cluster)
    outcomes = await run(cluster, config("b"), limit="1", approval=pruning.approval)
    assert {outcome.action for outcome in outcomes} == {Action.HELD}


async def test_what_is_being_deleted_already_does_not_count(cluster: MemoryCluster) -> None:
    await run(cluster, *(config(name) for name in "abcd"), config("e", finalizers=["example.org/hold"]))
    await run(cluster, *(config(name) for name in "abcd"))
    outcomes = await run(cluster, *(config(name) for name in "abc"), limit="1")
    assert said(outcomes) == {"d": "pruned", "e": "pruned"}


async def test_within_the_limit_no_approval_is_asked_for(cluster: MemoryCluster) -> None:
    pruning = await OpenApplySet.open(ApplySetOptions(applyset(), budget=Budget.read("4")), graph(config("a")), cluster)
    assert pruning.approval == ""


async def test_what_is_held_anyway_does_not_count(cluster: MemoryCluster) -> None:
    other = applyset(name="other")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extra"}}
    await run(cluster, namespace, config("x", "extra"), config("y"), of=other)
    assert said(await run(cluster, config("x", "extra"), of=other, limit="1")) == {"extra": "held", "y": "pruned"}


async def test_the_record_names_what_is_held(cluster: MemoryCluster) -> None:
    other = applyset(name="other")
    await run(cluster, config("x", "kube-system"), of=other)
    await run(cluster, config("y"), of=other, limit="0")
    pruning = await OpenApplySet.open(ApplySetOptions(other), graph(), cluster)
    assert {step.ref.name for step in pruning.steps} == {"x", "y"}
