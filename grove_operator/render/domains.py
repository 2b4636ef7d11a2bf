"""Which objects are placed together: topology constraints of gangs, and ComputeDomains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from grove_compiler.graph.node import Manifest, Node
from grove_operator.render.gangs import GANG_KIND, groups

DomainType = Literal["topology", "mnnvl"]
Scope = Literal["", "gang", "scaling group", "clique"]
CLAIM_KINDS = ("ResourceClaim", "ResourceClaimTemplate")


@dataclass(slots=True, eq=False)
class Domain:
    """Objects that share a part of the cluster.

    Of type `topology`: `required` and `preferred` are the keys of the node labels whose value all pods must or should share; `name` is
    that of the gang, of the scaling group's replica or of the clique that the constraint is about, which `scope` says; `gang` is the
    PodGang's id. Of type `mnnvl`: a ComputeDomain. `members` are ids: of the PodGang and PodCliques, or of the domain, its claims and
    what uses them; and of Pods that are in the graph.
    """

    id: str
    type: DomainType
    name: str
    required: str = ""
    preferred: str = ""
    scope: Scope = ""
    gang: str = ""
    members: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """`rack required, host preferred` with the label keys in full; `MNNVL domain NAME`."""
        if self.type == "mnnvl":
            return f"MNNVL domain {self.name}"
        parts = [(self.required, "required"), (self.preferred, "preferred")]
        return ", ".join(f"{key} {word}" for key, word in parts if key)


def find_domains(nodes: Sequence[Node]) -> list[Domain]:
    """Every domain of the objects, topology first, in apply order of the gangs and ComputeDomains."""
    pods = _pods_by_clique(nodes)
    topology = [domain for node in nodes if node.object.get("kind") == GANG_KIND for domain in _of_gang(node, pods)]
    return [*topology, *_compute_domains(nodes)]


def _pods_by_clique(nodes: Sequence[Node]) -> Mapping[str, list[str]]:
    pods: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        if node.object.get("kind") == "Pod" and node.owner is not None:
            pods[node.owner.id].append(node.id)
    return pods


def _of_gang(node: Node, pods: Mapping[str, list[str]]) -> Iterator[Domain]:
    """The constraints of a whole gang, of the replicas of its scaling groups and of its cliques (PodGang's API, shipped §1.10)."""
    metadata = node.object.get("metadata") or {}
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    for scope, name, holder, held in _scopes(node.object):
        pack = (holder.get("topologyConstraint") or {}).get("packConstraint") or {}
        required, preferred = str(pack.get("required") or ""), str(pack.get("preferred") or "")
        if required or preferred:
            cliques = [f"PodClique/{place}{clique}" for clique in held]
            members = [*cliques, *(pod for clique in cliques for pod in pods.get(clique, ()))]
            id = f"{node.id}/{scope}/{name}"
            yield Domain(id, "topology", name, required, preferred, scope, node.id, [node.id, *members] if scope == "gang" else members)


def _scopes(gang: Manifest) -> Iterator[tuple[Scope, str, Manifest, list[str]]]:
    """What may carry a constraint: its scope, its name, the part of the manifest, and the names of its PodCliques."""
    spec = gang.get("spec") or {}
    cliques = groups(gang)
    yield "gang", str((gang.get("metadata") or {}).get("name", "")), spec, [str(group["name"]) for group in cliques]
    for config in spec.get("topologyConstraintGroupConfigs") or []:
        yield "scaling group", str(config.get("name", "")), config, config.get("podGroupNames") or []
    for group in cliques:
        yield "clique", str(group["name"]), group, [str(group["name"])]


def _compute_domains(nodes: Sequence[Node]) -> list[Domain]:
    """Each ComputeDomain, the claims and templates that stand for it, and the PodCliques and Pods that use these."""
    domains = {_key(node.object): Domain(node.id, "mnnvl", _key(node.object)[1], members=[node.id]) for node in nodes if _is_domain(node)}
    if not domains:
        return []
    claims = _templates_of_drivers(nodes, domains)
    for node in nodes:
        domain = _claimed(node, domains)
        if domain is not None:
            domain.members.append(node.id)
            claims[_key(node.object)] = domain
    for node in nodes:
        found = {id(claims[key]): claims[key] for key in _used_claims(node.object) if key in claims}
        for domain in found.values():
            domain.members.append(node.id)
    return list(domains.values())


def _is_domain(node: Node) -> bool:
    return node.object.get("kind") == "ComputeDomain"


def _key(manifest: Manifest) -> tuple[str, str]:
    metadata = manifest.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _templates_of_drivers(nodes: Sequence[Node], domains: Mapping[tuple[str, str], Domain]) -> dict[tuple[str, str], Domain]:
    """Templates that the driver makes, under the name that the ComputeDomain asks for."""
    found = {}
    for node in nodes:
        if _is_domain(node):
            channel = (node.object.get("spec") or {}).get("channel") or {}
            name = (channel.get("resourceClaimTemplate") or {}).get("name")
            if name:
                key = _key(node.object)
                found[key[0], str(name)] = domains[key]
    return found


def _claimed(node: Node, domains: Mapping[tuple[str, str], Domain]) -> Domain | None:
    """The ComputeDomain that a claim or a template selects: the one whose name one of its CEL expressions quotes."""
    if node.object.get("kind") not in CLAIM_KINDS:
        return None
    namespace = _key(node.object)[0]
    for expression in _expressions(node.object.get("spec")):
        for part in expression.replace("'", '"').split('"')[1::2]:
            if (namespace, part) in domains:
                return domains[namespace, part]
    return None


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        cel = value.get("cel")
        if isinstance(cel, dict) and isinstance(cel.get("expression"), str):
            yield cel["expression"]
        for child in value.values():
            yield from _expressions(child)
    elif isinstance(value, list):
        for child in value:
            yield from _expressions(child)


def _used_claims(manifest: Manifest) -> Iterator[tuple[str, str]]:
    spec = manifest.get("spec") or {}
    pod_spec = spec if manifest.get("kind") == "Pod" else spec.get("podSpec") if manifest.get("kind") == "PodClique" else None
    for claim in (pod_spec or {}).get("resourceClaims") or []:
        name = claim.get("resourceClaimName") or claim.get("resourceClaimTemplateName")
        if name:
            yield _key(manifest)[0], str(name)
