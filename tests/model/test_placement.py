"""Constraints: how they are read, which topology gives them a meaning, what becomes of them, and that our verdict is right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY, Inputs, lint
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.model.checks.update import placement_changes
from grove_compiler.model.expanded.gang import gangs
from grove_compiler.model.spec.constraints import Constraint, translate
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.source.document import Document
from tests.suite.rows import rows

from .sets import clique, expand, group, pcs
from .topologies import manifest_of, topology

Manifest = dict[str, Any]
LAB = topology("lab", "zone", "rack", "host")

READ: list[tuple[Manifest, str, str, str]] = [
    ({"packDomain": "rack"}, "rack", "", "c.packDomain"),
    ({"pack": {"required": "rack"}}, "rack", "", "c.pack.required"),
    ({"pack": {"preferred": "host"}}, "", "host", "c.packDomain"),
    ({"pack": {"required": "rack", "preferred": "host"}}, "rack", "host", "c.pack.required"),
    ({"packDomain": "zone", "pack": {"preferred": "host"}}, "zone", "host", "c.packDomain"),
    ({"packDomain": "zone", "pack": {"required": "rack"}}, "rack", "", "c.pack.required"),
    ({}, "", "", "c.packDomain"),
    ({"pack": None, "packDomain": ""}, "", "", "c.packDomain"),
]


@rows(("manifest", "required", "preferred", "path"), READ)
def test_both_forms_of_a_constraint_say_what_is_required_and_what_is_preferred(
    manifest: Manifest, required: str, preferred: str, path: str
) -> None:
    found = Constraint(manifest, "c", "PodCliqueSet")
    assert (found.required, found.preferred, found.required_path) == (required, preferred, path)
    assert [use.name for use in found.uses] == [domain for domain in (required, preferred) if domain]


TRANSLATED: list[tuple[Manifest | None, Manifest | None]] = [
    (None, None),
    ({"packDomain": "rack"}, {"required": "key/rack"}),
    ({"pack": {"required": "zone", "preferred": "host"}}, {"required": "key/zone", "preferred": "key/host"}),
    ({"pack": {"required": "block", "preferred": "host"}}, {"preferred": "key/host"}),
    ({"pack": {"required": "zone", "preferred": "numa"}}, {"required": "key/zone"}),
    ({"pack": {"required": "block", "preferred": "numa"}}, None),
]


@rows(("manifest", "keys"), TRANSLATED)
def test_domains_become_node_labels_and_those_that_are_gone_are_dropped(manifest: Manifest | None, keys: Manifest | None) -> None:
    constraint = None if manifest is None else Constraint(manifest, "c", "PodCliqueSet")
    assert translate(constraint, LAB) == ({"packConstraint": keys} if keys else None)
    assert translate(constraint, None) is None


def a_set(
    top: Manifest | None = None,
    of_group: Manifest | None = None,
    of_member: Manifest | None = None,
    of_free: Manifest | None = None,
    **more: Any,
) -> Manifest:
    """A set with a clique `free` outside and a clique `member` inside a scaling group."""
    member = clique("member", **constrained(of_member))
    scaling = group("g", ["member"], **constrained(of_group))
    return pcs([clique("free", **constrained(of_free)), member], [scaling], **constrained(top), **more)


def constrained(constraint: Manifest | None) -> dict[str, Any]:
    return {"topologyConstraint": constraint} if constraint else {}


def pack(**fields: str) -> Manifest:
    named = {"topologyName": fields.pop("name")} if "name" in fields else {}
    return {**named, "pack": fields}


CHOICES: list[tuple[Manifest, tuple[str, str], str]] = [
    (a_set(), ("ClusterTopology", ""), ""),
    (a_set(clusterTopologyName="lab"), ("ClusterTopology", ""), "spec.template.clusterTopologyName"),
    (a_set({"packDomain": "rack"}), ("ClusterTopology", "grove-topology"), "spec.template.topologyConstraint"),
    (a_set({"packDomain": "rack"}, clusterTopologyName="lab"), ("ClusterTopology", "lab"), "spec.template.clusterTopologyName"),
    (a_set(pack(name="lab", required="rack")), ("ClusterTopologyBinding", "lab"), "spec.template.topologyConstraint.topologyName"),
    (
        a_set(None, pack(name="b", required="rack"), pack(name="c", required="rack")),
        ("ClusterTopologyBinding", "b"),
        "spec.template.podCliqueScalingGroups[0].topologyConstraint.topologyName",
    ),
]


@rows(("manifest", "choice", "path"), CHOICES)
def test_the_first_name_decides_and_without_one_the_default(manifest: Manifest, choice: tuple[str, str], path: str) -> None:
    placement = PodCliqueSet(manifest).placement
    assert (placement.choice, placement.name_path) == (choice, path)


UNNAMED: list[tuple[Manifest, list[str]]] = [
    (a_set(pack(required="rack")), ["spec.template.topologyConstraint"]),
    (a_set(pack(name="lab", required="rack"), pack(required="host"), pack(required="host")), []),
    (a_set(None, pack(name="lab", required="rack"), pack(required="host")), []),
    (
        a_set(None, pack(name="lab", required="rack"), of_free=pack(required="host")),
        ["spec.template.cliques[0].topologyConstraint"],
    ),
    (a_set(None, {"packDomain": "rack"}, {"packDomain": "host"}), []),
    (a_set(pack(required="rack"), clusterTopologyName="lab"), []),
]


@rows(("manifest", "paths"), UNNAMED)
def test_constraints_of_the_shipped_form_inherit_a_name_from_above(manifest: Manifest, paths: list[str]) -> None:
    assert [constraint.path for constraint in PodCliqueSet(manifest).placement.unnamed] == paths


CHANGES: list[tuple[Manifest, Manifest, list[str]]] = [
    (a_set(), a_set(), []),
    (a_set({"packDomain": "rack"}), a_set(), ["cannot be added after creation"]),
    (a_set(), a_set({"packDomain": "rack"}), ["cannot be removed after creation"]),
    (
        a_set({"packDomain": "rack"}),
        a_set({"packDomain": "zone"}),
        ['cannot be changed from required="zone" preferred="" to required="rack" preferred=""'],
    ),
    (a_set(pack(name="l", required="r")), a_set({"topologyName": "l", "packDomain": "r"}), []),
    (a_set({"topologyName": "l", "packDomain": "r"}), a_set({"packDomain": "r"}), []),
    (
        a_set(None, None, pack(name="l", preferred="r")),
        a_set(None, None, pack(name="l", preferred="s")),
        ['from required="" preferred="s"'],
    ),
    (
        a_set(None, pack(name="l", required="r")),
        a_set(None, pack(name="m", required="r")),
        ["topologyName cannot be changed from 'm' to 'l'"],
    ),
]


@rows(("new", "old", "words"), CHANGES)
def test_what_an_update_does_to_constraints_is_said_in_words(new: Manifest, old: Manifest, words: list[str]) -> None:
    found = [change.what for change in placement_changes(PodCliqueSet(new), PodCliqueSet(old))]
    assert len(found) == len(words)
    assert all(word in what for word, what in zip(words, found, strict=True))


def test_an_old_constraint_may_take_the_shipped_form_and_a_name_at_once() -> None:
    new, old = a_set(pack(name="l", required="rack")), a_set({"packDomain": "rack"})
    assert placement_changes(PodCliqueSet(new), PodCliqueSet(old)) == []


def test_cliques_keep_their_constraints_when_they_change_places() -> None:
    first, second = clique("a", topologyConstraint={"packDomain": "rack"}), clique("b")
    assert placement_changes(PodCliqueSet(pcs([second, first])), PodCliqueSet(pcs([first, second]))) == []


def test_nothing_is_placed_while_topology_aware_scheduling_is_off() -> None:
    expanded = expand(a_set({"packDomain": "rack"}, {"packDomain": "rack"}, clusterTopologyName="lab"))
    expanded.topologies = [LAB]
    [gang, *_] = gangs(expanded.replicas[0])
    assert (gang.constraint, gang.constraint_groups, gang.topology_name) == (None, [], None)


# -- our verdict against another one ----------------------------------------------------------------------------------------

WORDS = ["zone", "block", "rack", "host"]


@pytest.fixture(scope="module")
def program() -> Program:
    return rulebook.read().build(VOCABULARY)


def configuration() -> Document:
    body = {"topologyAwareScheduling": {"enabled": True}}
    return Document({"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **body})


constraints = st.none() | st.fixed_dictionaries({}, optional={"required": st.sampled_from(WORDS), "preferred": st.sampled_from(WORDS)})
orders = st.permutations(WORDS).flatmap(lambda words: st.integers(1, 4).map(lambda count: list(words[:count])))


def is_right(
    order: list[str], top: Manifest | None, of_group: Manifest | None, of_member: Manifest | None, of_free: Manifest | None
) -> bool:
    """The rules said another way: walk each path from the set down to a clique, and what is asked must never get broader."""
    asked = [top, of_group, of_member, of_free]
    if not any(one is not None for one in asked):
        return False  # a name that nothing uses
    for one in asked:
        if one is None:
            continue
        if not one or any(word not in order for word in one.values()):
            return False
        if "required" in one and "preferred" in one and order.index(one["preferred"]) < order.index(one["required"]):
            return False
    for path in ([top, of_group, of_member], [top, of_free]):
        for word in ("required", "preferred"):
            ranks = [order.index(one[word]) for one in path if one and word in one]
            if ranks != sorted(ranks):
                return False
    return True


@given(orders, constraints, constraints, constraints, constraints)
def test_a_set_is_accepted_exactly_when_another_check_accepts_it(
    program: Program,
    order: list[str],
    top: Manifest | None,
    of_group: Manifest | None,
    of_member: Manifest | None,
    of_free: Manifest | None,
) -> None:
    parts = [None if one is None else {"pack": one} for one in (top, of_group, of_member)]
    free = {} if of_free is None else {"of_free": {"pack": of_free}}
    given_set = a_set(*parts, clusterTopologyName="lab", **free)
    documents = [Document(given_set), Document(manifest_of("lab", *order, kind="ClusterTopologyBinding"))]
    findings = lint(Inputs(documents, config=configuration()), program)
    verdict = not has_errors(findings)
    assert verdict == is_right(order, top, of_group, of_member, of_free), [(one.code, one.message) for one in findings]


@given(orders, constraints, constraints, constraints, constraints)
def test_a_set_that_runs_compiles_whatever_became_of_its_topology(
    program: Program,
    order: list[str],
    top: Manifest | None,
    of_group: Manifest | None,
    of_member: Manifest | None,
    of_free: Manifest | None,
) -> None:
    parts = [{"pack": one} if one else None for one in (top, of_group, of_member, of_free)]
    named: dict[str, Any] = {"clusterTopologyName": "lab"} if any(parts) else {}
    live = a_set(*parts, **named)
    documents = [Document(live), Document(manifest_of("lab", *order, kind="ClusterTopologyBinding"))]
    result = compile_inputs(Inputs(documents, snapshot=[live], config=configuration()), program)
    assert not has_errors(result.diagnostics), [(one.code, one.message) for one in result.diagnostics]
    for node in result.graph.nodes:
        if node.object["kind"] == "PodGang":
            assert labels_in(node.object["spec"]) <= {f"key/{word}" for word in order}


def labels_in(value: Any) -> set[str]:
    """All node labels of the constraints inside a gang."""
    if isinstance(value, dict):
        own = set(value["packConstraint"].values()) if "packConstraint" in value else set()
        return own.union(*(labels_in(item) for item in value.values()))
    return set().union(*(labels_in(item) for item in value)) if isinstance(value, list) else set()
