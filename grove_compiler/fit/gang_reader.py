"""From the objects of a compiled graph to gangs: PodGangs, the PodCliques that they name, and KAI's Topologies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from grove_compiler.fit.amounts import request
from grove_compiler.fit.gang import DomainKey, Gang, LevelName, Scope
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.kube.quantity import QuantityError

BASE_GANG = "grove.io/base-podgang"
SET = "app.kubernetes.io/part-of"
REPLICA = "grove.io/podcliqueset-replica-index"
TOPOLOGY_NAMES = ("grove.io/topology-name", "kai.scheduler/topology")
COMPONENT, MNNVL_CLAIM = "app.kubernetes.io/component", "mnnvl-claim"
COMPUTE_DOMAIN_CLASS = "compute-domain"


def read_gangs(nodes: Iterable[Node]) -> list[Gang]:
    """Every gang of the graph in the order in which it is placed: base gangs first, then scaled ones, else as generated."""
    index = _Index(node.object for node in nodes)
    gangs = [_gang(manifest, index) for manifest in index.gangs]
    return sorted(gangs, key=lambda gang: gang.scaled)


class _Index:
    """The objects that a PodGang's meaning depends on."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        self.gangs: list[Manifest] = []
        self.cliques: dict[tuple[str, str], Manifest] = {}
        self.topologies: dict[str, tuple[str, ...]] = {}
        self.channels: set[tuple[str, str]] = set()
        for manifest in objects:
            self._add(manifest)

    def _add(self, manifest: Manifest) -> None:
        match manifest["kind"]:
            case "PodGang":
                self.gangs.append(manifest)
            case "PodClique":
                self.cliques[_key(manifest)] = manifest
            case "Topology":
                self.topologies[manifest["metadata"]["name"]] = tuple(level["nodeLabel"] for level in manifest["spec"]["levels"])
            case "ComputeDomain":
                template = _at(manifest, "spec", "channel", "resourceClaimTemplate", "name")
                self.channels.add((_key(manifest)[0], template or ""))
            case "ResourceClaim" | "ResourceClaimTemplate" if _is_channel(manifest):
                self.channels.add(_key(manifest))

    def domain(self, label: Any, gang: Manifest) -> DomainKey | None:
        """The domains of a label, within the topology that the gang names when that is in the graph."""
        if not isinstance(label, str) or not label:
            return None
        annotations = gang["metadata"].get("annotations") or {}
        levels = next((self.topologies[name] for key in TOPOLOGY_NAMES if (name := annotations.get(key)) in self.topologies), ())
        if label not in levels:
            return DomainKey((label,), (label,))
        return DomainKey(levels[: levels.index(label) + 1], levels)


def _gang(manifest: Manifest, index: _Index) -> Gang:
    namespace, name = _key(manifest)
    spec = manifest["spec"]
    groups = {group["name"]: _podgroup(group, manifest, index) for group in spec.get("podgroups") or []}
    root = _scope("gang", name, spec, manifest, index)
    unchecked = _arrange(root, groups, spec, manifest, index)
    cliques = [index.cliques[namespace, group] for group in groups if (namespace, group) in index.cliques]
    labels = [clique["metadata"].get("labels") or {} for clique in cliques]
    gang = Gang(
        namespace,
        name,
        (manifest["metadata"].get("labels") or {}).get(SET, ""),
        _whole(labels[0].get(REPLICA)) if labels else 0,
        any(BASE_GANG in own for own in labels),
        root,
        unchecked,
    )
    for clique in cliques:
        gang.unchecked += [text for text in _unchecked(clique, index) if text not in gang.unchecked]
        gang.assumed += [text for text in _assumed(clique["spec"].get("podSpec") or {}) if text not in gang.assumed]
    for group in root.podgroups:
        problem = _unreadable(group.pod_spec)
        if problem:
            gang.unchecked.append(f"what the pods of {group.name} ask for ({problem})")
            group.pod_spec = {}
    missing = [group for group in groups if (namespace, group) not in index.cliques]
    gang.unchecked += [f"the pods of {group}, which has no PodClique" for group in missing]
    return gang


def _arrange(root: Scope, groups: dict[str, Scope], spec: Manifest, gang: Manifest, index: _Index) -> list[str]:
    """Hangs the podgroups below the root, those of a group config below that; returns what cannot be told by nested scopes."""
    unchecked = []
    waiting = dict(groups)
    for config in spec.get("topologyConstraintGroupConfigs") or []:
        scope = _scope("group", config.get("name", ""), config, gang, index)
        names = config.get("podGroupNames") or []
        scope.scopes = [waiting.pop(name) for name in names if name in waiting]
        if len(scope.scopes) < len(names):
            unchecked.append(f"the group config {scope.name}, whose podgroups are unknown or in another one, too")
        if scope.scopes:
            root.scopes.append(scope)
    root.scopes += waiting.values()
    return unchecked


def _scope(level: LevelName, name: str, holder: Manifest, gang: Manifest, index: _Index) -> Scope:
    pack = _at(holder, "topologyConstraint", "packConstraint") or {}
    return Scope(level, name, index.domain(pack.get("required"), gang), index.domain(pack.get("preferred"), gang))


def _podgroup(group: Manifest, gang: Manifest, index: _Index) -> Scope:
    scope = _scope("podgroup", group["name"], group, gang, index)
    clique = index.cliques.get((_key(gang)[0], group["name"]))
    scope.minimum = group.get("minReplicas") or 0
    scope.replicas = max(scope.minimum, clique["spec"].get("replicas") or 0) if clique else scope.minimum
    scope.pod_spec = (clique["spec"].get("podSpec") or {}) if clique else {}
    return scope


def _unchecked(clique: Manifest, index: _Index) -> Iterator[str]:
    """Requirements of a clique's pods on which a placement may still fail."""
    spec = clique["spec"].get("podSpec") or {}
    for field in ("podAffinity", "podAntiAffinity"):
        if _at(spec, "affinity", field, "requiredDuringSchedulingIgnoredDuringExecution"):
            yield f"required {field}"
    if any(item.get("whenUnsatisfiable") != "ScheduleAnyway" for item in spec.get("topologySpreadConstraints") or []):
        yield "topologySpreadConstraints"
    namespace = _key(clique)[0]
    for claim in spec.get("resourceClaims") or []:
        source = claim.get("resourceClaimTemplateName") or claim.get("resourceClaimName") or ""
        if (namespace, source) not in index.channels:
            yield f"the devices of the resource claim {claim.get('name')}"


def _unreadable(spec: Manifest) -> str:
    try:
        request(spec)
    except QuantityError as error:
        return str(error)
    return ""


def _assumed(spec: Mapping[str, Any]) -> Iterator[str]:
    volumes = spec.get("volumes") or []
    if any("persistentVolumeClaim" in volume or "ephemeral" in volume for volume in volumes):
        yield "persistent volumes can be reached from every node"


def _is_channel(manifest: Manifest) -> bool:
    """Whether a claim, or a template's claim, asks for channels of a ComputeDomain alone, as its component or all its classes say."""
    if str((manifest["metadata"].get("labels") or {}).get(COMPONENT)).startswith(MNNVL_CLAIM):
        return True
    spec = _at(manifest, "spec", "spec") or manifest.get("spec") or {}
    requests = _at(spec, "devices", "requests") or []
    names = [_at(request, "exactly", "deviceClassName") or request.get("deviceClassName") or "" for request in requests]
    return bool(names) and all(name.startswith(COMPUTE_DOMAIN_CLASS) for name in names)


def _key(manifest: Manifest) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return metadata.get("namespace") or "", metadata["name"]


def _at(value: Any, *path: str) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _whole(text: Any) -> int:
    return int(text) if isinstance(text, str) and text.isdecimal() else 0
