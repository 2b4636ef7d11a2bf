"""Names that two entries of one set would share."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.model.checks.name_collisions import common_name, name_collisions
from grove_compiler.model.checks.name_patterns import NamePattern, Segment, patterns_of
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from tests.suite.rows import rows

from .sets import clique, group, pcs, sharing

SCALING = {"maxReplicas": 3}

COLLISIONS = {
    "the autoscalers of a clique and a scaling group of one name": (
        pcs("s", [clique("x", scaling=SCALING), clique("c")], [group("x", ["c"], scaleConfig=SCALING)]),
        [("HorizontalPodAutoscaler", "s-0-x")],
    ),
    "a clique that is named like a member of a group": (
        pcs("s", [clique("c"), clique("x-0-c")], [group("x", ["c"])]),
        [("PodClique", "s-0-x-0-c")],
    ),
    "a clique that is named like a replica that an autoscaler may add": (
        pcs("s", [clique("c"), clique("x-2-c")], [group("x", ["c"], scaleConfig=SCALING)]),
        [("PodClique", "s-0-x-2-c")],
    ),
    "members of two groups": (
        pcs("s", [clique("b-0-c"), clique("c")], [group("a", ["b-0-c"]), group("a-0-b", ["c"])]),
        [("PodClique", "s-0-a-0-b-0-c")],
    ),
    "claims of a clique and a scaling group of one name": (
        pcs("s", [clique("x", resourceSharing=sharing("t")), clique("c")], [group("x", ["c"], resourceSharing=sharing("t"))]),
        [("ResourceClaim", "s-0-x-all-t")],
    ),
    "claims of the set and of a scaling group": (
        pcs(
            "s",
            [clique("c")],
            [group("x", ["c"], resourceSharing=sharing("t", "PerReplica"))],
            resourceSharing=sharing("x-0-t", "PerReplica"),
        ),
        [("ResourceClaim", "s-0-x-0-t")],
    ),
    "claims of the set and of all pods of a clique": (
        pcs("s", [clique("c", resourceSharing=sharing("t"))], resourceSharing=sharing("c-all-t", "PerReplica")),
        [("ResourceClaim", "s-0-c-all-t")],
    ),
}

NO_COLLISIONS = {
    "one name for a clique and a group that share no kind of object": pcs("s", [clique("x"), clique("c")], [group("x", ["c"])]),
    "a clique named like a replica that the group does not have": pcs("s", [clique("c"), clique("x-1-c")], [group("x", ["c"])]),
    "a word with a leading zero is no index": pcs("s", [clique("c"), clique("x-00-c")], [group("x", ["c"], replicas=9)]),
    "one claim for all and one for each": pcs(
        "s", [clique("x", resourceSharing=sharing("t", "PerReplica")), clique("c")], [group("x", ["c"], resourceSharing=sharing("t"))]
    ),
    "double names in one list are another mistake": pcs("s", [clique("c")], [group("x", ["c"]), group("x", ["c"])]),
    "empty names are another mistake": pcs("s", [clique(""), clique("c")], [group("", ["c"])]),
    "scaling of a clique that is in a group is another mistake": pcs(
        "s", [clique("x", scaling=SCALING)], [group("x", ["x"], scaleConfig=SCALING)]
    ),
}


@rows(("set", "expected"), COLLISIONS.values(), ids=COLLISIONS.keys())
def test_names_that_two_entries_would_share_are_found(set: PodCliqueSet, expected: list[tuple[str, str]]) -> None:
    assert [(found.kind, found.name) for found in name_collisions(set)] == expected


@rows("set", NO_COLLISIONS.values(), ids=NO_COLLISIONS.keys())
def test_names_that_only_look_alike_are_left_alone(set: PodCliqueSet) -> None:
    assert name_collisions(set) == []


def test_a_collision_names_both_entries_and_the_field_of_each() -> None:
    set = pcs("s", [clique("c"), clique("x-0-c")], [group("x", ["c"])])
    found = name_collisions(set)[0]
    assert (found.first.origin, found.first.path) == ('clique "c" of scaling group "x"', "spec.template.cliques[0].name")
    assert (found.second.origin, found.second.path) == ('clique "x-0-c"', "spec.template.cliques[1].name")


PATTERNS = st.lists(st.one_of(st.sampled_from(["a", "b", "0", "1", "00", "all"]), st.integers(1, 3)), min_size=1, max_size=4).map(tuple)


def all_names(pattern: tuple[Segment, ...]) -> set[str]:
    choices = [[str(value) for value in range(segment)] if isinstance(segment, int) else [segment] for segment in pattern]
    return {"-".join(choice) for choice in product(*choices)}


@given(PATTERNS, PATTERNS)
def test_patterns_have_a_common_name_just_when_their_names_overlap(left: tuple[Segment, ...], right: tuple[Segment, ...]) -> None:
    shared = all_names(left) & all_names(right)
    name = common_name(left, right)
    assert bool(name) == bool(shared)
    assert not name or name in shared


def names_of_pod_cliques(set: PodCliqueSet) -> list[str]:
    """Every PodClique of the first replica, spelt out one by one."""
    grouped = {name for group in set.groups for name in group.clique_names}
    names = [f"{set.name}-0-{clique.name}" for clique in set.cliques if clique.name not in grouped]
    for entry in set.groups:
        names += [f"{set.name}-0-{entry.name}-{index}-{name}" for index in range(entry.replicas or 1) for name in entry.clique_names]
    return names


SHORT_NAMES = st.lists(st.sampled_from(["a", "b", "0", "1"]), min_size=1, max_size=3).map("-".join)


@given(st.lists(SHORT_NAMES, unique=True, min_size=1, max_size=5), st.lists(SHORT_NAMES, unique=True, max_size=2), st.integers(1, 2))
def test_a_set_has_a_collision_just_when_two_of_its_pod_cliques_have_one_name(cliques: list[str], groups: list[str], replicas: int) -> None:
    members = [cliques[index :: len(groups) + 1] for index in range(len(groups))]
    set = pcs("s", [clique(name) for name in cliques], [group(name, members[index], replicas) for index, name in enumerate(groups)])
    names = names_of_pod_cliques(set)
    assert bool(name_collisions(set)) == (len(names) != len({*names}))


@given(st.lists(SHORT_NAMES, unique=True, min_size=2, max_size=8), st.lists(SHORT_NAMES, unique=True, max_size=3), st.integers(1, 2))
def test_all_pairs_are_found_that_a_comparison_of_all_with_all_finds(cliques: list[str], groups: list[str], replicas: int) -> None:
    members = [cliques[index :: len(groups) + 1] for index in range(len(groups))]
    set = pcs("s", [clique(name) for name in cliques], [group(name, members[index], replicas) for index, name in enumerate(groups)])
    pairs = [(one.path, other.path) for one, other in combinations(patterns_of(set), 2) if is_shared(one, other)]
    assert sorted((found.first.path, found.second.path) for found in name_collisions(set)) == sorted(pairs)


def is_shared(one: NamePattern, other: NamePattern) -> bool:
    return one.kind == other.kind and bool(common_name(one.segments, other.segments))
