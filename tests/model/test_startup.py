"""What a clique waits for before its containers start."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.model.expanded.startup import dependencies
from tests.suite.rows import rows

from .sets import clique, existing, expand, find_clique, group, pcs

IN_ORDER = "CliqueStartupTypeInOrder"
EXPLICIT = "CliqueStartupTypeExplicit"
ANY_ORDER = "CliqueStartupTypeAnyOrder"


def waits(cliques: list[Any], groups: list[Any], startup: str, name: str) -> list[str]:
    """`name:count` for everything that the clique of that full name waits for."""
    found = find_clique(expand(pcs(cliques, groups, cliqueStartupType=startup)), name)
    return [f"{dependency.name}:{dependency.min_available}" for dependency in dependencies(found)]


ROUTER = clique("router", replicas=2)
PREFILL = clique("prefill", replicas=1)
DECODE = clique("decode", replicas=2)
CHAIN = [ROUTER, PREFILL, DECODE]
MODEL = group("model", ["prefill", "decode"], replicas=3, min_available=1)
WIDE = group("model", ["prefill", "decode"], replicas=3, min_available=2)


@pytest.mark.parametrize("startup", [ANY_ORDER, ""])
def test_in_any_order_nobody_waits_whatever_the_template_says(startup: str) -> None:
    assert waits([ROUTER, clique("a", startsAfter=["router"])], [], startup, "demo-0-a") == []


IN_ORDER_CASES = [
    ("the first waits for nobody", [], "demo-0-router", []),
    ("a clique waits for the one before it", [], "demo-0-prefill", ["demo-0-router:2"]),
    ("only for the one before it", [], "demo-0-decode", ["demo-0-prefill:1"]),
    ("a group's clique in the base gang waits for a standalone one", [MODEL], "demo-0-model-0-prefill", ["demo-0-router:2"]),
    ("and for one of its group", [MODEL], "demo-0-model-0-decode", ["demo-0-model-0-prefill:1"]),
    ("in a scaled gang it waits for nobody outside", [MODEL], "demo-0-model-1-prefill", []),
    ("but for its own replica", [MODEL], "demo-0-model-1-decode", ["demo-0-model-1-prefill:1"]),
    (
        "in the base gang it waits for all base replicas of its group",
        [WIDE],
        "demo-0-model-0-decode",
        ["demo-0-model-0-prefill:1", "demo-0-model-1-prefill:1"],
    ),
    (
        "also the last of them",
        [WIDE],
        "demo-0-model-1-decode",
        ["demo-0-model-0-prefill:1", "demo-0-model-1-prefill:1"],
    ),
    ("which scaled ones do not", [WIDE], "demo-0-model-2-decode", ["demo-0-model-2-prefill:1"]),
]


@rows(("groups", "name", "expected"), [case[1:] for case in IN_ORDER_CASES], ids=[case[0] for case in IN_ORDER_CASES])
def test_in_order(groups: list[Any], name: str, expected: list[str]) -> None:
    assert waits(CHAIN, groups, IN_ORDER, name) == expected


def test_a_standalone_clique_waits_for_all_base_replicas_of_a_group() -> None:
    cliques = [PREFILL, DECODE, ROUTER]
    assert waits(cliques, [WIDE], IN_ORDER, "demo-0-router") == ["demo-0-model-0-decode:2", "demo-0-model-1-decode:2"]


def test_in_order_is_the_order_of_the_templates_not_of_the_group() -> None:
    turned = group("model", ["decode", "prefill"])
    assert waits(CHAIN, [turned], IN_ORDER, "demo-0-model-0-decode") == ["demo-0-model-0-prefill:1"]


def test_explicit_waits_for_those_that_are_named_in_their_order() -> None:
    last = clique("last", startsAfter=["decode", "router"])
    assert waits([ROUTER, DECODE, last], [], EXPLICIT, "demo-0-last") == ["demo-0-decode:2", "demo-0-router:2"]


def test_explicit_without_names_waits_for_nobody() -> None:
    assert waits(CHAIN, [], EXPLICIT, "demo-0-decode") == []


def test_explicit_in_a_scaled_gang_keeps_only_what_is_in_the_same_group() -> None:
    cliques = [ROUTER, PREFILL, clique("decode", startsAfter=["router", "prefill"])]
    assert waits(cliques, [MODEL], EXPLICIT, "demo-0-model-0-decode") == ["demo-0-router:2", "demo-0-model-0-prefill:1"]
    assert waits(cliques, [MODEL], EXPLICIT, "demo-0-model-2-decode") == ["demo-0-model-2-prefill:1"]


def test_a_clique_of_another_group_is_outside() -> None:
    cliques = [PREFILL, clique("decode", startsAfter=["prefill"])]
    groups = [group("one", ["prefill"], replicas=2), group("two", ["decode"], replicas=2)]
    assert waits(cliques, groups, EXPLICIT, "demo-0-two-0-decode") == ["demo-0-one-0-prefill:1"]
    assert waits(cliques, groups, EXPLICIT, "demo-0-two-1-decode") == []


def test_the_count_is_that_of_the_very_clique_not_of_one_with_the_same_end() -> None:
    """The shipped operator takes the first template whose name is an end of the clique's (shipped semantics §14.1)."""
    cliques = [clique("a", replicas=7), clique("ba", replicas=2), clique("last", startsAfter=["ba"])]
    assert waits(cliques, [], EXPLICIT, "demo-0-last") == ["demo-0-ba:2"]


def test_each_replica_of_the_set_waits_for_its_own() -> None:
    found = expand(pcs(CHAIN, replicas=2, cliqueStartupType=IN_ORDER))
    assert [dependency.name for dependency in dependencies(find_clique(found, "demo-1-prefill"))] == ["demo-1-router"]


@pytest.mark.parametrize(("scale", "expected"), [(0, 0), (1, 1), (2, 2), (5, 2)])
def test_a_new_pod_waits_for_no_more_pods_than_there_are_to_be(scale: int, expected: int) -> None:
    """An autoscaler may put a clique to sleep: what starts after it would wait in its init container for ever."""
    found = expand(pcs(CHAIN, cliqueStartupType=IN_ORDER), [existing("PodClique", "demo-0-router", spec={"replicas": scale})])
    (router,) = dependencies(find_clique(found, "demo-0-prefill"))
    assert (router.name, router.min_available, router.expected_pods) == ("demo-0-router", 2, expected)


def test_a_new_pod_does_not_wait_for_a_scaling_group_that_is_scaled_to_zero() -> None:
    asleep = existing("PodCliqueScalingGroup", "demo-0-model", spec={"replicas": 0})
    found = expand(pcs([PREFILL, DECODE, ROUTER], [WIDE], cliqueStartupType=IN_ORDER), [asleep])
    assert [one.expected_pods for one in dependencies(find_clique(found, "demo-0-router"))] == [0, 0]
