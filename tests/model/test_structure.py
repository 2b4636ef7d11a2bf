"""Replicas, cliques, scaling groups and gangs of a set."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.model.expanded.gang import base_gang, gang_of, gangs
from grove_compiler.model.expanded.pods import pod_names, pods
from tests.suite.rows import rows

from .sets import Manifest, clique, existing, existing_pod, expand, find_clique, group, pcs

GROUPED = pcs(
    [clique("router", replicas=2), clique("prefill"), clique("decode", replicas=2)], [group("model", ["prefill", "decode"], 3, 1)], 2
)


def gang_members(manifest: Manifest, snapshot: list[Manifest] | None = None) -> dict[str, list[str]]:
    """The cliques of each gang, by the gang's name."""
    found = expand(manifest, snapshot or [])
    return {gang.name: [part.name for part in gang.cliques] for replica in found.replicas for gang in gangs(replica)}


def test_a_replica_is_called_after_its_set_and_its_index() -> None:
    assert [replica.name for replica in expand(pcs([clique("a")], replicas=2)).replicas] == ["demo-0", "demo-1"]


def test_a_set_without_replicas_has_none() -> None:
    assert list(expand(pcs([clique("a")], replicas=0)).replicas) == []


def test_standalone_cliques_are_those_in_no_group() -> None:
    assert [part.name for part in expand(GROUPED).replicas[1].cliques] == ["demo-1-router"]


def test_all_cliques_are_the_standalone_ones_and_then_those_of_groups() -> None:
    assert [part.name for part in expand(GROUPED).replicas[0].all_cliques] == [
        "demo-0-router",
        "demo-0-model-0-prefill",
        "demo-0-model-0-decode",
        "demo-0-model-1-prefill",
        "demo-0-model-1-decode",
        "demo-0-model-2-prefill",
        "demo-0-model-2-decode",
    ]


def test_members_follow_the_groups_order_of_names() -> None:
    found = expand(pcs([clique("a"), clique("b")], [group("g", ["b", "a"])]))
    assert [part.name for part in found.replicas[0].all_cliques] == ["demo-0-g-0-b", "demo-0-g-0-a"]


def test_cliques_know_their_gangs() -> None:
    found = {part.name: (part.gang_name, part.base_gang_name) for part in expand(GROUPED).replicas[0].all_cliques}
    assert found["demo-0-router"] == ("demo-0", None)
    assert found["demo-0-model-0-decode"] == ("demo-0", None)
    assert found["demo-0-model-1-decode"] == ("demo-0-model-0", "demo-0")
    assert found["demo-0-model-2-decode"] == ("demo-0-model-1", "demo-0")


def test_a_clique_and_its_gang_agree() -> None:
    for replica in expand(GROUPED).replicas:
        for part in replica.all_cliques:
            assert gang_of(part).name == part.gang_name
            assert part.name in [member.name for member in gang_of(part).cliques]


def test_the_base_gang_holds_what_has_to_start_together() -> None:
    found = gang_members(GROUPED)
    assert found["demo-0"] == ["demo-0-router", "demo-0-model-0-prefill", "demo-0-model-0-decode"]
    assert found["demo-0-model-0"] == ["demo-0-model-1-prefill", "demo-0-model-1-decode"]
    assert list(found) == ["demo-0", "demo-0-model-0", "demo-0-model-1", "demo-1", "demo-1-model-0", "demo-1-model-1"]


def test_scaled_gangs_are_counted_from_the_end_of_the_base_gang() -> None:
    found = gang_members(pcs([clique("a")], [group("g", ["a"], replicas=4, min_available=2)]))
    assert found == {
        "demo-0": ["demo-0-g-0-a", "demo-0-g-1-a"],
        "demo-0-g-0": ["demo-0-g-2-a"],
        "demo-0-g-1": ["demo-0-g-3-a"],
    }


def test_several_groups_stand_one_after_the_other() -> None:
    found = gang_members(pcs([clique("a"), clique("b")], [group("h", ["b"], 2), group("g", ["a"], 2)]))
    assert found == {"demo-0": ["demo-0-h-0-b", "demo-0-g-0-a"], "demo-0-h-0": ["demo-0-h-1-b"], "demo-0-g-0": ["demo-0-g-1-a"]}


def test_the_live_number_of_a_groups_replicas_decides() -> None:
    """A HorizontalPodAutoscaler owns it, so that the template's counts only at first (shipped semantics §4.1)."""
    manifest = pcs([clique("a")], [group("g", ["a"], replicas=2)])
    scaled = existing("PodCliqueScalingGroup", "demo-0-g", spec={"replicas": 3})
    assert list(gang_members(manifest, [scaled])) == ["demo-0", "demo-0-g-0", "demo-0-g-1"]
    assert [part.index for part in expand(manifest, [scaled]).replicas[0].scaling_groups[0].members] == [0, 1, 2]


@pytest.mark.parametrize(("replicas", "there"), [(1, ["demo-0-g-0-a", "demo-0-g-1-a"]), (0, [])])
def test_a_group_scaled_below_its_least_still_belongs_to_the_base_gang_as_a_whole(replicas: int, there: list[str]) -> None:
    manifest = pcs([clique("a")], [group("g", ["a"], replicas=3, min_available=2)])
    found = expand(manifest, [existing("PodCliqueScalingGroup", "demo-0-g", spec={"replicas": replicas})])
    assert [part.name for part in found.replicas[0].all_cliques] == there
    assert [part.name for part in base_gang(found.replicas[0]).cliques] == ["demo-0-g-0-a", "demo-0-g-1-a"]


def test_a_group_without_numbers_has_one_replica_that_is_needed() -> None:
    manifest = pcs([clique("a")], [{"name": "g", "cliqueNames": ["a"]}])
    part = expand(manifest).replicas[0].scaling_groups[0]
    assert (part.replicas, part.min_available, [member.is_scaled for member in part.members]) == (1, 1, [False])


def test_the_live_number_of_a_cliques_replicas_decides() -> None:
    found = expand(pcs([clique("a", replicas=2)]), [existing("PodClique", "demo-0-a", spec={"replicas": 5})])
    assert (found.replicas[0].cliques[0].replicas, found.replicas[0].cliques[0].min_available) == (5, 2)


def test_owners_are_the_set_or_the_scaling_group() -> None:
    found = expand(GROUPED, [existing("PodCliqueScalingGroup", "demo-0-model")])
    assert find_clique(found, "demo-0-router").owner.id == "PodCliqueSet/default/demo"
    owner = find_clique(found, "demo-0-model-1-decode").owner
    assert (owner.id, owner.uid) == ("PodCliqueScalingGroup/default/demo-0-model", "uid-of-demo-0-model")


def test_references_have_uids_once_the_objects_exist() -> None:
    snapshot = [existing("PodClique", "demo-0-router"), existing("PodGang", "demo-0")]
    found = expand(GROUPED, snapshot)
    assert find_clique(found, "demo-0-router").ref.uid == "uid-of-demo-0-router"
    assert base_gang(found.replicas[0]).ref.uid == "uid-of-demo-0"
    assert find_clique(expand(GROUPED), "demo-0-router").ref.uid == ""


SCHEDULERS: list[tuple[list[str], str, str, list[str]]] = [
    ([""], "", "default-scheduler", ["default-scheduler"]),
    ([""], "kai-scheduler", "kai-scheduler", ["kai-scheduler"]),
    (["", "volcano"], "", "volcano", ["default-scheduler", "volcano"]),
    (["kai-scheduler", "volcano"], "", "kai-scheduler", ["kai-scheduler", "volcano"]),
]


@pytest.mark.parametrize(("named", "default", "of_set", "of_cliques"), SCHEDULERS)
def test_the_scheduler_is_the_one_that_is_named_first_or_the_configured_default(
    named: list[str], default: str, of_set: str, of_cliques: list[str]
) -> None:
    config = {"scheduler": {"profiles": [{"name": name} for name in ("kai-scheduler", "volcano")], "defaultProfileName": default}}
    cliques = [clique(f"c{number}", podSpec={"schedulerName": name} if name else {}) for number, name in enumerate(named)]
    found = expand(pcs(cliques), config=config)
    assert (found.scheduler, [part.scheduler for part in found.replicas[0].cliques]) == (of_set, of_cliques)


def test_a_gang_needs_the_least_of_each_of_its_cliques() -> None:
    found = base_gang(expand(pcs([clique("a", replicas=4, min_available=3), clique("b", replicas=2)])).replicas[0])
    assert [(part.name, part.min_available) for part in found.groups] == [("demo-0-a", 3), ("demo-0-b", 2)]
    assert found.min_member == 5


def test_a_gang_names_pods_only_when_there_are_some() -> None:
    manifest = pcs([clique("a", replicas=2)])
    assert pod_names(expand(manifest).replicas[0].cliques[0]) == []


def test_a_gang_names_the_pods_that_are_made_with_it_in_order_of_their_names() -> None:
    found = expand(pcs([clique("a", replicas=3)]), pods=True).replicas[0]
    assert pod_names(found.cliques[0]) == sorted(pod.name for pod in pods(found.cliques[0]))


def test_a_gang_names_the_pods_that_exist_and_are_not_going() -> None:
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    snapshot = [existing_pod("demo-0-a", "z", 0), existing_pod("demo-0-a", "b", 1), existing_pod("demo-0-a", "c", 2, metadata=gone)]
    assert pod_names(expand(pcs([clique("a", replicas=3)]), snapshot).replicas[0].cliques[0]) == ["demo-0-a-b", "demo-0-a-z"]


CLIQUE = existing("PodClique", "demo-0-a", spec={"replicas": 2})
PODS = [existing_pod("demo-0-a", "b", 0), existing_pod("demo-0-a", "c", 1)]
INITIALIZED = existing("PodGang", "demo-0", status={"conditions": [{"type": "Initialized", "status": "True"}]})
PENDING = existing("PodGang", "demo-0", status={"conditions": [{"type": "Initialized", "status": "False"}]})
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
COMPLETENESS: list[tuple[str, list[Manifest], bool]] = [
    ("nothing exists", [], False),
    ("only the clique exists", [CLIQUE], False),
    ("a pod is missing", [CLIQUE, PODS[0]], False),
    ("all pods exist", [CLIQUE, *PODS], True),
    ("the clique is going", [existing("PodClique", "demo-0-a", spec={"replicas": 2}, metadata=GOING), *PODS], False),
    ("a pod is going", [CLIQUE, PODS[0], existing_pod("demo-0-a", "c", 1, metadata=GOING)], False),
    ("a pod belongs to another gang", [CLIQUE, PODS[0], existing_pod("demo-0-a", "c", 1, gang="demo-0-g-0")], False),
    ("the clique was scaled out", [existing("PodClique", "demo-0-a", spec={"replicas": 3}), *PODS], False),
    ("it was whole once", [INITIALIZED, CLIQUE], True),
    ("it was not whole yet", [PENDING, CLIQUE], False),
]


@rows(("snapshot", "expected"), [case[1:] for case in COMPLETENESS], ids=[case[0] for case in COMPLETENESS])
def test_a_gang_is_initialized_when_it_is_whole_or_was_once(snapshot: list[Manifest], expected: bool) -> None:
    assert base_gang(expand(pcs([clique("a", replicas=2)]), snapshot).replicas[0]).is_initialized is expected


@given(st.integers(0, 3), st.integers(1, 3), st.integers(0, 3), st.lists(st.sampled_from(["a", "b", "c"]), unique=True))
def test_every_clique_is_in_exactly_one_gang(replicas: int, least: int, more: int, grouped: list[str]) -> None:
    groups = [group("g", grouped, replicas=least + more, min_available=least)] if grouped else []
    found = expand(pcs([clique(name) for name in ("a", "b", "c")], groups, replicas))
    members = [part.name for replica in found.replicas for gang in gangs(replica) for part in gang.cliques]
    assert sorted(members) == sorted(part.name for replica in found.replicas for part in replica.all_cliques)
    assert len(members) == replicas * (3 - len(grouped) + (least + more) * len(grouped))


def test_a_representation_does_not_run_in_circles() -> None:
    part: Any = expand(GROUPED).replicas[0]
    assert "demo-0" in repr(part)
    assert len(repr(base_gang(part))) < 200
