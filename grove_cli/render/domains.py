"""Finds the objects that are placed together, by topology constraints of gangs or by ComputeDomains, and assigns colours to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal

from grove_compiler.gangs.claims import CLAIM_KINDS, DOMAIN_KIND, domain_template, pod_claims, quoted_names
from grove_compiler.gangs.clique import Key
from grove_compiler.gangs.gang import GANG_KIND, LevelName, read_gang
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.record import record
from kube_objects.manifest import namespace_of, namespaced_name, section

DomainType = Literal["topology", "mnnvl"]
Scope = Literal["", "gang", "scaling group", "clique"]
SCOPES: Mapping[LevelName, Scope] = {"gang": "gang", "group": "scaling group", "podgroup": "clique"}
"""The level of a PodGang, by what it corresponds to in a set."""
TINTS = ("#cfe3f7", "#fbe3c0", "#d3ecd9", "#f3d5e3", "#e0daf3", "#f7f0bd", "#cdeef0", "#e6e0d8")
"""Light colours, as a background of dark text."""
STRONG = ("#0b6bb8", "#b35a00", "#1c7c3c", "#b0306f", "#6246b0", "#7a6a00", "#00777f", "#6b5a45")
"""The same hues for lines on white."""


@record
class Domain:
    """Objects that are placed together.

    The type `topology` is a constraint: `required` and `preferred` are the node labels whose value all pods must or should share; `scope`
    and `name` are those of the gang, scaling group replica or clique that has it; `gang` is the PodGang's id. The type `mnnvl` is a
    ComputeDomain. `members` are ids: of the PodGang and PodCliques, or of the domain, its claims and their users; and of Pods in the graph.
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
    """Returns every domain of the objects, topology first, in apply order of the gangs and ComputeDomains."""
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
    """Yields the constraints of a whole gang, of the replicas of its scaling groups and of its cliques."""
    gang = read_gang(node.object)
    prefix = f"{gang.namespace}/" if gang.namespace else ""
    for level in gang.levels:
        if level.required or level.preferred:
            cliques = [f"PodClique/{prefix}{name}" for name in level.podgroups]
            members = [*cliques, *(pod for clique in cliques for pod in pods.get(clique, ()))]
            scope = SCOPES[level.level]
            members = [node.id, *members] if scope == "gang" else members
            domain_id = f"{node.id}/{scope}/{level.name}"
            yield Domain(domain_id, "topology", level.name, level.required, level.preferred, scope, node.id, members)


def _compute_domains(nodes: Sequence[Node]) -> list[Domain]:
    """Returns each ComputeDomain with its claims and claim templates, and the PodCliques and Pods that use these."""
    domains: dict[Key, Domain] = {}
    claims: dict[Key, Domain] = {}
    for node in nodes:
        if node.object.get("kind") == DOMAIN_KIND:
            namespace, name = namespaced_name(node.object)
            domain = domains[namespace, name] = Domain(node.id, "mnnvl", name, members=[node.id])
            if template := domain_template(node.object):  # created by the driver, so it may not be in the graph
                claims[namespace, template] = domain
    if not domains:
        return []
    for node in nodes:
        selected = _selected_domain(node.object, domains)
        if selected is not None:
            selected.members.append(node.id)
            claims[namespaced_name(node.object)] = selected
    for node in nodes:
        used = {id(claims[key]): claims[key] for key in _used_claims(node.object) if key in claims}
        for domain in used.values():
            domain.members.append(node.id)
    return list(domains.values())


def _selected_domain(manifest: Manifest, domains: Mapping[Key, Domain]) -> Domain | None:
    """Returns the ComputeDomain that a claim or a template selects."""
    if manifest.get("kind") not in CLAIM_KINDS:
        return None
    namespace = namespace_of(manifest)
    return next((domains[namespace, name] for name in quoted_names(manifest) if (namespace, name) in domains), None)


def _used_claims(manifest: Manifest) -> Iterator[Key]:
    path = {"Pod": ("spec",), "PodClique": ("spec", "podSpec")}.get(str(manifest.get("kind")))
    if path:
        namespace = namespace_of(manifest)
        yield from ((namespace, source) for _, source in pod_claims(section(manifest, *path)) if source)


def topology_colours(domains: Iterable[Domain]) -> dict[str, int]:
    """Returns the colour of each gang with a topology constraint, by its id: one per node label, of the required or else preferred domain.

    Colours are assigned from the end, where the subdued ones are, and to MNNVL domains, which are drawn on top, from the beginning.
    """
    keys: dict[str, int] = {}
    colours = {}
    for domain in domains:
        if domain.type == "topology":
            colour = keys.setdefault(domain.required or domain.preferred, -1 - len(keys) % len(TINTS))
            if domain.scope == "gang":
                colours[domain.gang] = colour
    return colours


def mnnvl_colours(domains: Iterable[Domain]) -> dict[str, int]:
    """Returns the colour of each object in a ComputeDomain, by its id: one per domain, in rotation."""
    colours: dict[str, int] = {}
    for position, domain in enumerate(domain for domain in domains if domain.type == "mnnvl"):
        colours.update((member, position % len(TINTS)) for member in domain.members)
    return colours
