"""Which pods count for those that start after them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from applier.ref import Manifest
from grove_operator.initc.wait import Parents, is_up
from tests.suite.rows import rows

from .pods import pod, recorded


@rows(
    ("given", "counts"),
    [
        (pod("a", "x"), True),
        (pod("a", "x", ready=False), False),
        (pod("a", "x", leaving=True), False),
        (pod("a", "x", ready=False, phase="Succeeded"), True),
        (pod("a", "x", ready=False, phase="Failed"), False),
        ({"metadata": {"name": "a"}}, False),
        ({"metadata": {"name": "a"}, "status": {"conditions": "odd"}}, False),
    ],
    ids=["ready", "not ready", "ready but being deleted", "succeeded", "failed", "without a status", "with a broken status"],
)
def test_a_pod_counts_when_it_is_ready_and_stays_or_has_succeeded(given: Manifest, counts: bool) -> None:
    assert is_up(given) is counts


def test_a_pod_may_start_once_every_parent_has_enough_ready_pods() -> None:
    parents = Parents({"router": 2, "leader": 1})
    parents.replace_all([pod("r-1", "router"), pod("l-1", "leader")])
    assert parents.waiting() == {"router": 1}
    parents.update(pod("r-2", "router"))
    assert parents.waiting() == {}


def test_a_clique_whose_name_only_begins_alike_does_not_count() -> None:
    parents = Parents({"demo-0-a": 1})
    parents.replace_all([pod("demo-0-ab-x", "demo-0-ab")])
    assert parents.waiting() == {"demo-0-a": 0}


@rows(
    "owners",
    [
        None,
        [],
        [{"kind": "PodClique", "name": "other", "controller": True}],
        [{"kind": "Job", "name": "router", "controller": True}],
        "odd",
    ],
)
def test_a_pod_that_only_copies_the_labels_does_not_count(owners: Any) -> None:
    """As one that somebody debugs with, which is ready before ours are."""
    parents, copied = Parents({"router": 1}), pod("debug", "router")
    copied["metadata"]["ownerReferences"] = owners
    parents.replace_all([copied])
    assert parents.waiting() == {"router": 0}


def test_a_pod_that_goes_or_is_no_longer_ready_does_not_count_any_more() -> None:
    parents = Parents({"router": 1})
    parents.replace_all([pod("r-1", "router")])
    parents.update(pod("r-1", "router", ready=False))
    assert parents.waiting() == {"router": 0}
    parents.update(pod("r-1", "router"))
    parents.update(pod("r-1", "router"), gone=True)
    assert parents.waiting() == {"router": 0}


def done(attempt: str, *, leaving: bool = False) -> Manifest:
    """The pod of a leader that has exited with 0 in an attempt of a training workload."""
    return pod(f"l-{attempt}", "leader", ready=False, phase="Succeeded", attempt=attempt, leaving=leaving)


def test_a_rank_that_has_finished_is_waited_for_no_more_when_its_pod_is_gone() -> None:
    """As where its node is scaled down, or finished pods are cleaned up. A watch may have to begin again after that."""
    parents = Parents({"leader": 1})
    parents.replace_all([pod("w-1", "worker", ready=False, attempt="1"), done("1")])
    parents.update(done("1", leaving=True), gone=True)
    assert parents.waiting() == {}
    parents.replace_all([pod("w-1", "worker", ready=False, attempt="1")])
    assert parents.waiting() == {}


def test_a_program_that_ends_well_because_it_was_asked_to_has_not_finished() -> None:
    parents = Parents({"leader": 1})
    parents.replace_all([pod("l-1", "leader", attempt="1")])
    parents.update(done("1", leaving=True))
    parents.update(done("1", leaving=True), gone=True)
    assert parents.waiting() == {"leader": 0}


def test_pods_that_are_kept_of_earlier_attempts_do_not_count() -> None:
    parents = Parents({"leader": 1})
    parents.replace_all([done("1"), pod("w-2", "worker", ready=False, attempt="2")])
    assert parents.waiting() == {"leader": 0}
    parents.update(pod("l-2", "leader", attempt="2"))
    assert parents.waiting() == {}


def test_no_attempt_that_somebody_has_made_up_is_waited_for() -> None:
    parents, copied = Parents({"leader": 1}), pod("debug", "worker", attempt="9")
    copied["metadata"]["ownerReferences"] = []
    parents.replace_all([pod("l-1", "leader", attempt="1"), pod("w-1", "worker", ready=False, attempt="7"), copied])
    assert parents.waiting() == {"leader": 0}
    parents.update(pod("w-1", "worker", ready=False, attempt="1"))
    assert parents.waiting() == {}


def test_a_rank_that_was_gone_before_anybody_looked_counts_once_as_its_podclique_records_it() -> None:
    """As where its node was scaled down while the pod that starts after it still waited for its own."""
    parents = Parents({"leader": 2})
    parents.replace_all([pod("w-1", "worker", ready=False, attempt="1"), pod("l-0", "leader", ready=False, attempt="1", index="0")])
    parents.record(recorded("leader", "1"))
    assert parents.waiting() == {"leader": 1}
    parents.update(pod("l-1", "leader", ready=False, phase="Succeeded", attempt="1", index="1"))
    assert parents.waiting() == {"leader": 1}
    parents.update(pod("l-0", "leader", attempt="1", index="0"))
    assert parents.waiting() == {}


@rows(
    "podclique",
    [
        recorded("leader", "0", attempt=2),
        recorded("other", "0"),
        recorded("leader", "7"),
        {"metadata": {"name": "leader"}, "status": "odd"},
        {"metadata": {"name": "leader"}, "spec": {"replicas": "odd"}, "status": {"attempt": "odd", "succeededIndexes": 3}},
    ],
)
def test_what_is_recorded_of_another_attempt_or_makes_no_sense_does_not_count(podclique: Manifest) -> None:
    parents = Parents({"leader": 1})
    parents.replace_all([pod("w-1", "worker", ready=False, attempt="1")])
    parents.record(podclique)
    assert parents.waiting() == {"leader": 0}


def test_what_a_podclique_has_recorded_goes_with_it() -> None:
    parents = Parents({"leader": 1})
    parents.replace_all([pod("w-1", "worker", ready=False, attempt="1")])
    parents.record(recorded("leader", "0"))
    assert parents.waiting() == {}
    parents.record(recorded("leader", "0"), gone=True)
    assert parents.waiting() == {"leader": 0}


def test_what_is_waited_for_is_said_in_words() -> None:
    parents = Parents({"router": 2, "leader": 1})
    parents.replace_all([pod("r-1", "router")])
    assert parents.describe() == "router (1 of 2 ready), leader (0 of 1 ready)"


PODS = st.builds(
    lambda number, clique, ready: pod(f"{clique}-{number}", clique, ready=ready),
    st.integers(0, 5),
    st.sampled_from(["a", "b", "c"]),
    st.booleans(),
)


@given(st.lists(st.tuples(PODS, st.booleans()), max_size=30))
def test_changes_one_by_one_lead_to_what_a_list_at_the_end_says(news: list[tuple[Manifest, bool]]) -> None:
    followed, live = Parents({"a": 2, "b": 1}), {}
    for each, gone in news:
        followed.update(each, gone=gone)
        live[each["metadata"]["name"]] = each
        if gone:
            del live[each["metadata"]["name"]]
    listed = Parents({"a": 2, "b": 1})
    listed.replace_all(live.values())
    assert followed.waiting() == listed.waiting()
