"""Topology constraints and ComputeDomains, read from the objects of every design."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli.render.domains import Domain, find_domains
from grove_compiler.graph.node import Manifest, Node

from .sample import HOST, RACK, clique, gang, node, pack, pods, ref, workload

CLIQUE = clique("demo-0-web", "podclique/standalone", ref("PodCliqueSet", "demo"), (0,), 1)


def topology(**spec: Any) -> list[Domain]:
    """The domains of a gang with one clique whose spec has these fields."""
    made = gang("demo-0", "podgang/base", (0,), ["demo-0-web"], spec)
    return find_domains([CLIQUE, made, *pods(CLIQUE, "demo-0", (0,))])


def test_a_gang_without_constraints_has_no_domain() -> None:
    assert topology() == []


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"required": RACK}, f"{RACK} required"),
        ({"preferred": HOST}, f"{HOST} preferred"),
        ({"required": RACK, "preferred": HOST}, f"{RACK} required, {HOST} preferred"),
    ],
)
def test_a_constraint_says_its_node_labels(keys: dict[str, str], text: str) -> None:
    assert [domain.text for domain in topology(**pack(**keys))] == [text]


def test_a_constraint_of_a_gang_holds_the_gang_its_cliques_and_their_pods() -> None:
    (found,) = topology(**pack(required=RACK))
    assert (found.scope, found.name, found.gang) == ("gang", "demo-0", "PodGang/ml/demo-0")
    assert found.members == ["PodGang/ml/demo-0", "PodClique/ml/demo-0-web", "Pod/ml/demo-0-web-00000"]


def test_a_constraint_of_a_scaling_groups_replica_holds_the_cliques_that_it_names() -> None:
    (found,) = topology(topologyConstraintGroupConfigs=[{"name": "demo-0-model-0", "podGroupNames": ["demo-0-web"], **pack(required=RACK)}])
    assert (found.scope, found.name) == ("scaling group", "demo-0-model-0")
    assert found.members == ["PodClique/ml/demo-0-web", "Pod/ml/demo-0-web-00000"]


def test_a_constraint_of_a_clique_holds_that_clique() -> None:
    made = gang("demo-0", "podgang/base", (0,), ["one", "two"], {}, required=RACK)
    found = find_domains([made])[-1]
    assert (found.scope, found.name, found.members) == ("clique", "two", ["PodClique/ml/two"])


@pytest.mark.parametrize("empty", [{}, {"topologyConstraint": None}, {"topologyConstraint": {"packConstraint": None}}, pack(required="")])
def test_an_empty_constraint_is_none(empty: Manifest) -> None:
    assert topology(**empty) == []


def compute_domain(**spec: Any) -> Node:
    return node("ComputeDomain", "demo-0-cd", spec={"numNodes": 0, **spec})


def using(kind: str, **claim: str) -> Node:
    """Something with a pod spec that uses a claim."""
    pod_spec = {"containers": [], "resourceClaims": [{"name": "mnnvl", **claim}]}
    return node(kind, "demo-0-web", spec=pod_spec if kind == "Pod" else {"podSpec": pod_spec})


def claim(kind: str, name: str, quoted: str = '"demo-0-cd"') -> Node:
    devices = {"requests": [{"name": "mnnvl", "selectors": [{"cel": {"expression": f"device.attributes['x'].name == {quoted}"}}]}]}
    return node(kind, name, spec={"devices": devices} if kind == "ResourceClaim" else {"spec": {"devices": devices}})


def members(*nodes: Node) -> list[str]:
    return [member.partition("/")[0] for domain in find_domains(nodes) if domain.type == "mnnvl" for member in domain.members]


@pytest.mark.parametrize("kind", ["Pod", "PodClique"])
def test_named_claims_lead_to_their_domain(kind: str) -> None:
    nodes = [compute_domain(), claim("ResourceClaim", "demo-0-claim"), using(kind, resourceClaimName="demo-0-claim")]
    assert members(*nodes) == ["ComputeDomain", "ResourceClaim", kind]


@pytest.mark.parametrize("kind", ["Pod", "PodClique"])
def test_templates_of_ours_lead_to_their_domain(kind: str) -> None:
    nodes = [compute_domain(), claim("ResourceClaimTemplate", "demo-0-claim"), using(kind, resourceClaimTemplateName="demo-0-claim")]
    assert members(*nodes) == ["ComputeDomain", "ResourceClaimTemplate", kind]


def test_the_drivers_template_is_known_by_the_name_that_the_domain_asks_for() -> None:
    driver = compute_domain(channel={"resourceClaimTemplate": {"name": "demo-0-rct"}})
    assert members(driver, using("PodClique", resourceClaimTemplateName="demo-0-rct")) == ["ComputeDomain", "PodClique"]


def test_a_name_in_single_quotes_is_found_too() -> None:
    assert members(compute_domain(), claim("ResourceClaim", "a", "'demo-0-cd'")) == ["ComputeDomain", "ResourceClaim"]


def test_a_longer_name_is_another_domain() -> None:
    assert members(compute_domain(), claim("ResourceClaim", "a", '"demo-0-cd-2"')) == ["ComputeDomain"]


def test_claims_that_have_nothing_to_do_with_a_domain_are_not_in_one() -> None:
    assert members(compute_domain(), using("Pod", resourceClaimName="gpus")) == ["ComputeDomain"]


def test_a_pod_that_uses_a_claim_twice_is_a_member_once() -> None:
    pod = using("Pod", resourceClaimName="demo-0-claim")
    pod.object["spec"]["resourceClaims"] *= 2
    assert members(compute_domain(), claim("ResourceClaim", "demo-0-claim"), pod).count("Pod") == 1


def test_claims_of_another_namespace_are_not_meant() -> None:
    other = claim("ResourceClaim", "a")
    other.object["metadata"]["namespace"] = "other"
    assert members(compute_domain(), other) == ["ComputeDomain"]


def test_each_gang_of_the_sample_has_a_domain_of_its_own() -> None:
    found = [domain for domain in find_domains(workload(members=3).nodes) if domain.type == "mnnvl"]
    assert [domain.name for domain in found] == ["demo-0-cd", "demo-0-model-0-cd", "demo-0-model-1-cd"]
    assert len({member for domain in found for member in domain.members}) == sum(len(domain.members) for domain in found)
    assert found[0].text == "MNNVL domain demo-0-cd"
