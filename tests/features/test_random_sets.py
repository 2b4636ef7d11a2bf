"""What holds for every valid set, whatever it looks like."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings

from grove_compiler.compile import CompileResult
from grove_compiler.graph.node import Node
from grove_compiler.model.inputs.settings import Settings
from tests.graph.dependencies import with_dependencies
from tests.suite.effort import runs

from .compiling import as_text, compile_manifest
from .properties import Properties
from .random_sets import Manifest, pod_cliques_sets

WITH_PODS = Settings(pods=True)
LABEL_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
ROLE_NAME = re.compile(r"grove\.io:pcs:[a-z0-9]([-a-z0-9]*[a-z0-9])?")  # the only names that are no DNS names
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")

holds = Properties[[Manifest, CompileResult]]()


def compiled(manifest: Manifest) -> CompileResult:
    result = compile_manifest(manifest, WITH_PODS)
    errors = [finding for finding in result.diagnostics if finding.severity == "error"]
    assert errors == [], [f"{error.path}: {error.message}" for error in errors]
    return result


def of_kind(result: CompileResult, kind: str) -> list[Manifest]:
    return [node.object for node in result.graph.nodes if node.object["kind"] == kind]


def labels_of(manifest: Manifest) -> dict[str, str]:
    labels: dict[str, str] = manifest["metadata"]["labels"]
    return labels


def name_of(manifest: Manifest) -> str:
    name: str = manifest["metadata"]["name"]
    return name


@holds
def a_valid_set_compiles_twice_to_the_same_bytes(manifest: Manifest, result: CompileResult) -> None:
    assert as_text(result) == as_text(compiled(manifest))


@holds
def no_two_objects_of_a_kind_have_one_name(manifest: Manifest, result: CompileResult) -> None:
    doubles = [id for id, count in Counter(node.id for node in result.graph.nodes).items() if count > 1]
    assert doubles == []


@holds
def every_name_and_label_is_one_that_kubernetes_takes(manifest: Manifest, result: CompileResult) -> None:
    for node in result.graph.nodes:
        kind, name = node.object["kind"], name_of(node.object)
        assert (ROLE_NAME if kind in ("Role", "RoleBinding") else LABEL_NAME).fullmatch(name), node.id
        assert [value for value in labels_of(node.object).values() if not LABEL_VALUE.fullmatch(value)] == []
        assert node.object["metadata"]["namespace"] == manifest["metadata"].get("namespace", "default")


@holds
def hostnames_and_subdomains_are_dns_labels_and_hostnames_are_unique(manifest: Manifest, result: CompileResult) -> None:
    pods = of_kind(result, "Pod")
    assert [pod for pod in pods if not LABEL_NAME.fullmatch(pod["spec"]["hostname"])] == []
    assert len({pod["spec"]["hostname"] for pod in pods}) == len(pods)


@holds
def every_object_belongs_to_the_set_or_to_an_object_before_it(manifest: Manifest, result: CompileResult) -> None:
    seen = {f"PodCliqueSet/{manifest['metadata'].get('namespace', 'default')}/{manifest['metadata']['name']}"}
    for node in result.graph.nodes:
        assert node.owner is not None and node.owner.id in seen, node.id
        assert node.object["metadata"]["ownerReferences"] == [_reference(node)]
        seen.add(node.id)


def _reference(node: Node) -> Manifest:
    assert node.owner is not None
    owner = {"apiVersion": node.owner.api_version, "kind": node.owner.kind, "name": node.owner.name}
    return {**owner, "controller": True, "blockOwnerDeletion": True}


@holds
def each_pod_is_listed_by_its_gang_and_by_no_other(manifest: Manifest, result: CompileResult) -> None:
    listed = [
        (name_of(gang), group["name"], reference["name"])
        for gang in of_kind(result, "PodGang")
        for group in gang["spec"]["podgroups"]
        for reference in group["podReferences"]
    ]
    pods = [(labels_of(pod)["grove.io/podgang"], labels_of(pod)["grove.io/podclique"], name_of(pod)) for pod in of_kind(result, "Pod")]
    assert sorted(listed) == sorted(pods)


@holds
def each_clique_is_in_the_one_gang_that_its_label_names(manifest: Manifest, result: CompileResult) -> None:
    grouped = [(name_of(gang), group["name"]) for gang in of_kind(result, "PodGang") for group in gang["spec"]["podgroups"]]
    assert sorted(grouped) == sorted((labels_of(clique)["grove.io/podgang"], name_of(clique)) for clique in of_kind(result, "PodClique"))


@holds
def a_gang_asks_for_at_least_one_and_at_most_all_pods_of_a_clique(manifest: Manifest, result: CompileResult) -> None:
    for gang in of_kind(result, "PodGang"):
        for group in gang["spec"]["podgroups"]:
            assert 1 <= group["minReplicas"] <= len(group["podReferences"])


@holds
def cliques_start_after_cliques_that_exist_and_never_in_a_circle(manifest: Manifest, result: CompileResult) -> None:
    after = {name_of(clique): clique["spec"].get("startsAfter", []) for clique in of_kind(result, "PodClique")}
    started: set[str] = set()
    while len(started) < len(after):
        ready = {name for name, names in after.items() if name not in started and started.issuperset(names)}
        assert ready, f"nothing can start: {after}"
        started |= ready


@holds
def a_scaled_gang_waits_for_nothing_outside_itself(manifest: Manifest, result: CompileResult) -> None:
    cliques = {name_of(clique): clique for clique in of_kind(result, "PodClique")}
    for clique in cliques.values():
        if "grove.io/base-podgang" in labels_of(clique):
            gangs = {labels_of(cliques[name])["grove.io/podgang"] for name in clique["spec"].get("startsAfter", [])}
            assert gangs <= {labels_of(clique)["grove.io/podgang"]}


@holds
def the_start_up_container_waits_for_what_its_clique_starts_after(manifest: Manifest, result: CompileResult) -> None:
    cliques = {name_of(clique): clique["spec"] for clique in of_kind(result, "PodClique")}
    for pod in of_kind(result, "Pod"):
        waits = [box for box in pod["spec"].get("initContainers", []) if box["name"] == "grove-initc"]
        named = cliques[labels_of(pod)["grove.io/podclique"]].get("startsAfter", [])
        expected = [f"--podcliques={name}:{cliques[name]['minAvailable']}" for name in named]
        assert [box["args"] for box in waits] == ([expected] if named else [])
        assert not waits or pod["spec"]["initContainers"][-1] is waits[0]


@holds
def pods_use_claims_that_exist_in_all_their_containers(manifest: Manifest, result: CompileResult) -> None:
    claims = {name_of(claim) for claim in of_kind(result, "ResourceClaim")}
    for pod in of_kind(result, "Pod"):
        used = [claim["resourceClaimName"] for claim in pod["spec"].get("resourceClaims", [])]
        assert claims.issuperset(used)
        assert len(set(used)) == len(used)
        for box in _user_containers(pod):
            assert [claim["name"] for claim in box.get("resources", {}).get("claims", [])] == used


def _user_containers(pod: Manifest) -> list[Manifest]:
    boxes = [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]
    return [box for box in boxes if box["name"] != "grove-initc"]


@holds
def no_container_has_a_variable_twice_and_groves_come_first(manifest: Manifest, result: CompileResult) -> None:
    for pod in of_kind(result, "Pod"):
        for box in _user_containers(pod):
            names = [variable["name"] for variable in box["env"]]
            assert len(set(names)) == len(names)
            assert names[:2] == ["GROVE_PCS_NAME", "GROVE_PCS_INDEX"]


@holds
def objects_come_in_waves_in_which_nothing_waits_for_its_own_wave(manifest: Manifest, result: CompileResult) -> None:
    graph = result.graph
    wave = {node.id: number for number, nodes in enumerate(graph.levels()) for node in nodes}
    assert [
        (node.id, before.id) for node, befores in with_dependencies(graph) for before in befores if wave[before.id] >= wave[node.id]
    ] == []
    assert len(wave) == len(graph.nodes)


@holds
def there_are_as_many_objects_of_each_kind_as_the_manifest_says(manifest: Manifest, result: CompileResult) -> None:
    found = Counter(node.object["kind"] for node in result.graph.nodes)
    assert dict(found) == {kind: count for kind, count in expected_counts(manifest["spec"]).items() if count}


@holds
def compiling_over_what_was_made_keeps_every_name_and_number(manifest: Manifest, result: CompileResult) -> None:
    first = [node.object for node in result.graph.nodes]
    existing = [{**made, "metadata": {**made["metadata"], "uid": f"uid-{number}"}} for number, made in enumerate(first)]
    second = compile_manifest(manifest, WITH_PODS, existing)
    assert [_settled(node.object) for node in second.graph.nodes] == [_settled(made) for made in first]


def _settled(manifest: Manifest) -> Manifest:
    """Without what changes once objects exist: UIDs of owners, and gates of pods that their gang knows."""
    owners = [{key: value for key, value in one.items() if key != "uid"} for one in manifest["metadata"]["ownerReferences"]]
    spec = {key: value for key, value in manifest.get("spec", {}).items() if key != "schedulingGates"}
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": owners}, "spec": spec}


def expected_counts(spec: Manifest) -> dict[str, int]:
    """The number of objects of each kind, worked out from the manifest alone."""
    template, replicas = spec["template"], spec["replicas"]
    groups = template.get("podCliqueScalingGroups", [])
    cliques = {clique["name"]: clique for clique in template["cliques"]}
    copies = dict.fromkeys(cliques, 1)  # of each clique in one replica of the set
    for group in groups:
        copies |= dict.fromkeys(group["cliqueNames"], group.get("replicas", 1))
    return {
        "ServiceAccount": 1,
        "Role": 1,
        "RoleBinding": 1,
        "Secret": 1,
        "Service": replicas,
        "PodClique": replicas * sum(copies.values()),
        "PodCliqueScalingGroup": replicas * len(groups),
        "PodGang": replicas * (1 + sum(group.get("replicas", 1) - group.get("minAvailable", 1) for group in groups)),
        "HorizontalPodAutoscaler": replicas * sum(1 for one in [*(c["spec"] for c in cliques.values()), *groups] if _scaling_of(one)),
        "ResourceClaim": _claims(template, replicas)
        + replicas * sum(_claims(group, group.get("replicas", 1)) for group in groups)
        + replicas * sum(copies[name] * _claims(clique, clique["spec"]["replicas"]) for name, clique in cliques.items()),
        "Pod": replicas * sum(copies[name] * clique["spec"]["replicas"] for name, clique in cliques.items()),
    }


def _scaling_of(entry: Manifest) -> Any:
    return entry.get("autoScalingConfig") or entry.get("scaleConfig")


def _claims(holder: Manifest, count: int) -> int:
    """Claims of one owner that has so many replicas."""
    return sum(1 if reference["scope"] == "AllReplicas" else count for reference in holder.get("resourceSharing", []))


@settings(max_examples=runs(80), suppress_health_check=[HealthCheck.too_slow])
@given(pod_cliques_sets())
def test_what_holds_for_every_valid_set(manifest: Manifest) -> None:
    """Each set is made and compiled once for all that has to hold for it, which takes longer than to look at it."""
    holds.check(manifest, compiled(manifest))
