"""Reads gangs from a compiled graph as nested scopes, with the domains of KAI's Topologies, and collects what placement does not check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from grove_compiler.fit.gang import ConstraintScope, DomainKey, GangDemand
from grove_compiler.gangs import gang as gangs
from grove_compiler.gangs.claims import CLAIM_KINDS, DOMAIN_KIND, domain_template, is_channel, pod_claims
from grove_compiler.gangs.clique import CompiledClique, Key, read_cliques
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.kube.pod_request import request
from kube_objects.manifest import maps, namespace_of, namespaced_name, section
from kube_objects.quantity import QuantityError


def read_gangs(nodes: Iterable[Node]) -> list[GangDemand]:
    """Reads every gang of the graph in the order in which it is placed: base gangs first, then scaled ones, else as generated."""
    objects = [node.object for node in nodes]
    references = _References(objects)
    placed = [_gang(gang, references) for gang in gangs.read_gangs(objects, references.cliques)]
    return sorted(placed, key=lambda gang: gang.scaled)


class _References:
    """Indexes the objects that gangs and their pods name: PodCliques, topologies, and claims that ask for nothing but channels."""

    def __init__(self, objects: Sequence[Manifest]) -> None:
        self.cliques = read_cliques(objects)
        self.topologies: dict[str, tuple[str, ...]] = {}
        self.channels: set[Key] = set()
        for manifest in objects:
            self._add(manifest)

    def _add(self, manifest: Manifest) -> None:
        kind = manifest["kind"]
        if kind == "Topology":
            self.topologies[namespaced_name(manifest)[1]] = tuple(level["nodeLabel"] for level in manifest["spec"]["levels"])
        elif kind == DOMAIN_KIND:
            self.channels.add((namespace_of(manifest), domain_template(manifest)))
        elif kind in CLAIM_KINDS and is_channel(manifest):
            self.channels.add(namespaced_name(manifest))

    def domain(self, label: str, gang: gangs.CompiledGang) -> DomainKey | None:
        """Returns the domain key of a label, within the topology that the gang names if that is in the graph."""
        if not label:
            return None
        levels = next((self.topologies[name] for name in gang.topologies if name in self.topologies), ())
        if label not in levels:
            return DomainKey((label,), (label,))
        return DomainKey(levels[: levels.index(label) + 1], levels)


def _gang(gang: gangs.CompiledGang, references: _References) -> GangDemand:
    scopes = [_scope(level, gang, references) for level in gang.levels]
    root, unchecked = _nested(scopes, gang.levels)
    placed = GangDemand(gang.namespace, gang.name, gang.set_name, gang.replica, gang.base, root, unchecked)
    for clique in gang.cliques:
        placed.unchecked += [text for text in _unchecked(clique, references) if text not in placed.unchecked]
        placed.assumed += [text for text in _assumed(clique.pod_spec) if text not in placed.assumed]
    for group in root.podgroups:
        problem = _unreadable(group.pod_spec)
        if problem:
            placed.unchecked.append(f"the requests of the pods of {group.name} ({problem})")
            group.pod_spec = {}
    existing = {clique.name for clique in gang.cliques}
    placed.unchecked += [f"the pods of {name}, which has no PodClique" for name in gang.minimums if name not in existing]
    return placed


def _scope(level: gangs.LevelConstraint, gang: gangs.CompiledGang, references: _References) -> ConstraintScope:
    required, preferred = (references.domain(label, gang) for label in (level.required, level.preferred))
    scope = ConstraintScope(level.level, level.name, required, preferred)
    if level.level == "podgroup":
        clique = references.cliques.get((gang.namespace, level.name))
        scope.minimum = gang.minimums[level.name]
        scope.replicas = max(scope.minimum, clique.pods if clique else 0)
        scope.pod_spec = clique.pod_spec if clique else {}
    return scope


def _nested(scopes: Sequence[ConstraintScope], levels: Sequence[gangs.LevelConstraint]) -> tuple[ConstraintScope, list[str]]:
    """Nests the podgroups below their groups and those below the gang; returns the gang and what nested scopes cannot express."""
    root, unchecked = scopes[0], []
    waiting = {scope.name: scope for scope in scopes if scope.level == "podgroup"}
    for scope, level in zip(scopes, levels, strict=True):
        if scope.level != "group":
            continue
        scope.scopes = [waiting.pop(name) for name in level.podgroups if name in waiting]
        if len(scope.scopes) < len(level.podgroups):
            unchecked.append(f"the group config {scope.name}, whose podgroups are unknown or in another one, too")
        if scope.scopes:
            root.scopes.append(scope)
    root.scopes += waiting.values()
    return root, unchecked


def _unchecked(clique: CompiledClique, references: _References) -> Iterator[str]:
    """Yields requirements of a clique's pods that placement does not check, so that it may still fail."""
    affinity = section(clique.pod_spec, "affinity")
    for field in ("podAffinity", "podAntiAffinity"):
        if section(affinity, field).get("requiredDuringSchedulingIgnoredDuringExecution"):
            yield f"required {field}"
    if any(item.get("whenUnsatisfiable") != "ScheduleAnyway" for item in maps(clique.pod_spec.get("topologySpreadConstraints"))):
        yield "topologySpreadConstraints"
    for name, source in pod_claims(clique.pod_spec):
        if (clique.namespace, source) not in references.channels:
            yield f"the devices of the resource claim {name}"


def _unreadable(spec: Manifest) -> str:
    try:
        request(spec)
    except QuantityError as error:
        return str(error)
    return ""


def _assumed(spec: Manifest) -> Iterator[str]:
    if any("persistentVolumeClaim" in volume or "ephemeral" in volume for volume in maps(spec.get("volumes"))):
        yield "persistent volumes can be reached from every node"
