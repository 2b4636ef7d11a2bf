"""What holds for every valid set that asks for multi-node NVLink, in whatever way, in both forms."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_compiler.compile import CompileResult
from tests.graph.dependencies import with_dependencies
from tests.suite.effort import runs

from .properties import Properties
from .random_mnnvl import Asking, asking_sets, compiled
from .random_sets import Manifest

SHAPES = st.sampled_from(["as-proposed", "driver"])
CLAIM_NAMES = ("mnnvl", "mnnvl-claim")
OURS = ("ComputeDomain", "ResourceClaim", "ResourceClaimTemplate")

holds = Properties[[Asking, str, CompileResult]]()


def of_kind(result: CompileResult, *kinds: str) -> list[Manifest]:
    return [node.object for node in result.graph.nodes if node.object["kind"] in kinds]


def name_of(manifest: Manifest) -> str:
    name: str = manifest["metadata"]["name"]
    return name


def domain_claims(spec: Manifest) -> list[Manifest]:
    """The claims of ComputeDomains among those of a pod's spec."""
    return [claim for claim in spec.get("resourceClaims", []) if claim["name"] in CLAIM_NAMES]


def boxes_of(spec: Manifest) -> list[Manifest]:
    return [*spec["containers"], *spec.get("initContainers", [])]


@holds
def pods_of_gpu_cliques_have_one_domain_and_others_none(asking: Asking, shape: str, result: CompileResult) -> None:
    for clique in of_kind(result, "PodClique"):
        uses_gpu = clique["spec"]["roleName"] in asking.gpu_cliques
        in_group = "grove.io/podcliquescalinggroup" in clique["metadata"]["labels"]
        expected = uses_gpu and (in_group or asking.way != "scalingGroupReplica")
        assert len(domain_claims(clique["spec"]["podSpec"])) == int(expected)


@holds
def exactly_the_containers_with_gpus_use_the_domain(asking: Asking, shape: str, result: CompileResult) -> None:
    for pod in of_kind(result, "Pod"):
        has_domain = bool(domain_claims(pod["spec"]))
        for box in boxes_of(pod["spec"]):
            resources = box.get("resources", {})
            used = [claim["name"] for claim in resources.get("claims", []) if claim["name"] in CLAIM_NAMES]
            has_gpus = any(name.startswith("nvidia.com/") for name in resources.get("limits", {}))
            assert len(used) == int(has_domain and has_gpus)


@holds
def what_pods_refer_to_is_made_by_us_or_asked_of_the_driver(asking: Asking, shape: str, result: CompileResult) -> None:
    claims = {name_of(made) for made in of_kind(result, "ResourceClaim")}
    templates = {name_of(made) for made in of_kind(result, "ResourceClaimTemplate")}
    channels = [
        domain["spec"].get("channel", {}).get("resourceClaimTemplate", {}).get("name") for domain in of_kind(result, "ComputeDomain")
    ]
    for pod in of_kind(result, "Pod"):
        for claim in domain_claims(pod["spec"]):
            assert claim.get("resourceClaimName") in claims or claim.get("resourceClaimTemplateName") in templates | set(channels)


@holds
def every_domain_has_members_and_no_claim_is_left_over(asking: Asking, shape: str, result: CompileResult) -> None:
    cliques = of_kind(result, "PodClique")
    used = Counter(
        claim.get("resourceClaimName") or claim["resourceClaimTemplateName"]
        for clique in cliques
        for claim in domain_claims(clique["spec"]["podSpec"])
    )
    domains = of_kind(result, "ComputeDomain")
    assert len(domains) == len(used)
    ours = [made for made in of_kind(result, "ResourceClaim", "ResourceClaimTemplate") if "mnnvl" in made["metadata"]["labels"][COMPONENT]]
    assert {name_of(made) for made in ours} == (set() if shape == "driver" or asking.way == "group" else set(used))


COMPONENT = "app.kubernetes.io/component"


@holds
def there_are_as_many_domains_as_the_scope_says(asking: Asking, shape: str, result: CompileResult) -> None:
    names = {name_of(domain) for domain in of_kind(result, "ComputeDomain")}
    replicas = range(asking.manifest["spec"]["replicas"])
    base = asking.manifest["metadata"]["name"]
    if asking.way == "clique":
        members = [name_of(clique) for clique in of_kind(result, "PodClique") if clique["spec"]["roleName"] in asking.gpu_cliques]
        assert names == {f"{name}-cd" for name in members}
    elif asking.way == "scalingGroupReplica":
        groups = [
            group for group in asking.manifest["spec"]["template"]["podCliqueScalingGroups"] if asking.gpu_cliques & {*group["cliqueNames"]}
        ]
        assert names == {
            f"{base}-{r}-{group['name']}-{g}-cd" for r in replicas for group in groups for g in range(group.get("replicas", 1))
        }
    else:
        assert names == {f"{base}-{r}-{'fabric' if asking.way == 'group' else 'cd'}" for r in replicas}


@holds
def a_domain_by_annotations_belongs_to_a_gang_that_holds_pods_of_it(asking: Asking, shape: str, result: CompileResult) -> None:
    if asking.way not in ("replica", "clique", "scalingGroupReplica"):
        return
    gangs = {name_of(gang): {group["name"] for group in gang["spec"]["podgroups"]} for gang in of_kind(result, "PodGang")}
    cliques = {name_of(clique): clique["spec"]["podSpec"] for clique in of_kind(result, "PodClique")}
    for domain in of_kind(result, "ComputeDomain"):
        [owner] = domain["metadata"]["ownerReferences"]
        wanted = name_of(domain).removesuffix("-cd") + "-mnnvl-claim"
        members = {name for name, spec in cliques.items() if wanted in str(domain_claims(spec))}
        assert (owner["kind"], owner["name"] in gangs) == ("PodGang", True)
        if asking.way == "replica":
            assert owner["name"] + "-cd" == name_of(domain)
        else:
            assert members <= gangs[owner["name"]]


@holds
def each_clique_is_in_the_one_gang_that_its_label_names_and_no_gang_is_empty(asking: Asking, shape: str, result: CompileResult) -> None:
    gangs = {name_of(gang): [group["name"] for group in gang["spec"]["podgroups"]] for gang in of_kind(result, "PodGang")}
    assert all(gangs.values())
    labels = {name_of(clique): clique["metadata"]["labels"] for clique in of_kind(result, "PodClique")}
    assert sorted((gang, name) for gang, names in gangs.items() for name in names) == sorted(
        (found["grove.io/podgang"], name) for name, found in labels.items()
    )
    assert {found["grove.io/base-podgang"] for found in labels.values() if "grove.io/base-podgang" in found} <= gangs.keys()


@holds
def objects_stand_after_what_they_wait_for_in_order_and_in_waves(asking: Asking, shape: str, result: CompileResult) -> None:
    graph = result.graph
    place = {node.id: number for number, node in enumerate(graph.nodes)}
    wave = {node.id: number for number, nodes in enumerate(graph.levels()) for node in nodes}
    edges = [(node, before) for node, dependencies in with_dependencies(graph) for before in dependencies]
    assert [(node.id, before.id) for node, before in edges if place[before.id] >= place[node.id] or wave[before.id] >= wave[node.id]] == []
    owned = {(node.id, node.owner.id) for node in graph.nodes if node.owner and node.owner.kind == "PodGang"}
    assert owned <= {(node.id, before.id) for node, before in edges}


@holds
def pods_wait_only_for_cliques_of_their_own_gang(asking: Asking, shape: str, result: CompileResult) -> None:
    cliques = {name_of(clique): clique for clique in of_kind(result, "PodClique")}
    for clique in cliques.values():
        for name in clique["spec"].get("startsAfter", []):
            assert cliques[name]["metadata"]["labels"]["grove.io/podgang"] == clique["metadata"]["labels"]["grove.io/podgang"]


@holds
def mnnvl_only_adds_to_what_a_set_compiles_to(asking: Asking, shape: str, result: CompileResult) -> None:
    if asking.way not in ("replica", "config", "group"):
        return
    with_domains = [node.object for node in result.graph.nodes]
    without = [node.object for node in compiled(asking.plain, shape).graph.nodes]
    ours = [made for made in with_domains if made["kind"] not in OURS or "mnnvl" not in str(made["metadata"]["labels"]) + name_of(made)]
    assert [_stripped(made) for made in ours if made["kind"] != "ComputeDomain"] == [_stripped(made) for made in without]


def _stripped(manifest: Manifest) -> Any:
    """Without the labels, annotations and claims that MNNVL adds."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in ("labels", "annotations")}
    labels = {key: value for key, value in manifest["metadata"]["labels"].items() if key not in DESIGN_LABELS}
    annotations = {key: value for key, value in manifest["metadata"].get("annotations", {}).items() if "mnnvl" not in key}
    return {
        **manifest,
        "metadata": {**metadata, "labels": labels, "annotations": annotations},
        "spec": _without_claims(manifest.get("spec")),
    }


DESIGN_LABELS = [f"grove.io/{word}" for word in ("pcs-name", "pcs-replica-index", "pcsg-name", "pcsg-replica-index", "clique-name")]


def _without_claims(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_claims(part) for key, part in value.items()}
        return {key: part for key, part in kept.items() if part != [] or key not in ("claims", "resourceClaims")}
    if isinstance(value, list):
        return [_without_claims(part) for part in value if not (isinstance(part, dict) and part.get("name") in CLAIM_NAMES)]
    return value


@holds
def compiling_over_what_was_made_keeps_every_name(asking: Asking, shape: str, result: CompileResult) -> None:
    first = [node.object for node in result.graph.nodes]
    existing = [{**made, "metadata": {**made["metadata"], "uid": f"uid-{number}"}} for number, made in enumerate(first)]
    second = compiled(asking.manifest, shape, existing)
    assert [node.id for node in second.graph.nodes] == [f"{made['kind']}/{made['metadata']['namespace']}/{name_of(made)}" for made in first]
    uids = {(made["kind"], name_of(made)): made["metadata"]["uid"] for made in existing}
    domains = [domain["metadata"]["ownerReferences"][0] for domain in of_kind(second, "ComputeDomain")]
    owned = [owner for owner in domains if owner["kind"] == "PodGang"]
    assert [owner.get("uid") for owner in owned] == [uids["PodGang", owner["name"]] for owner in owned]


@settings(max_examples=runs(80), suppress_health_check=[HealthCheck.too_slow])
@given(asking_sets(), SHAPES)
def test_what_holds_for_every_set_that_asks_for_nvlink(asking: Asking, shape: str) -> None:
    holds.check(asking, shape, compiled(asking.manifest, shape))
