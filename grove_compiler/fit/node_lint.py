"""What is wrong with the labels of nodes, before anybody waits for pods that never start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from grove_compiler.fit.cluster import HOSTNAME, ClusterNode
from grove_compiler.fit.gang import DomainKey, Gang
from grove_compiler.fit.manifests import Sourced
from grove_compiler.fit.node_reader import Nodes, names
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest

TOPOLOGY_WORDS = ("region", "zone", "datacenter", "block", "nvl-block", "rack", "nvlink-domain", "nvl-domain")
"""What labels of topology levels end with, by custom, from far to near."""
MOST_EACH = 5
"""So many findings of one kind about one label are listed; the last one counts the rest."""


def lint_nodes(nodes: Nodes, gangs: Sequence[Gang]) -> list[Diagnostic]:
    """Returns every finding about the nodes' labels and state, in the order of checks; labels that gangs name are checked more strictly."""
    pairs = list(zip(nodes.cluster, nodes.manifests, strict=True))
    chains = _chains(gangs)
    used = list(dict.fromkeys(label for chain in chains for label in chain))
    customary = _customary(nodes.cluster, used)
    result = [*_doubles(pairs), *_state(pairs), *_unknown_labels(pairs, used), *_missing(pairs, used, customary)]
    for upper, lower in _nestings(chains, customary):
        result += _not_nested(pairs, upper, lower)
    return result


Pairs = Sequence[tuple[ClusterNode, Sourced]]


def _doubles(pairs: Pairs) -> Iterator[Diagnostic]:
    """Yields two nodes of one name, or two with one host name: to pods that must share a host they would be one."""
    hosts: dict[str, tuple[ClusterNode, Sourced]] = {}
    nodes: dict[str, Sourced] = {}
    for node, manifest in pairs:
        first = nodes.setdefault(node.name, manifest)
        if first is not manifest:
            message = f"the node {node.name} is there twice, first in {_place(first)}"
            yield manifest.finding("node/duplicate-name", "error", message, ("metadata", "name"), type="Duplicate value")
            continue
        host = node.labels.get(HOSTNAME)
        if host is None:
            continue
        other, place = hosts.setdefault(host, (node, manifest))
        if other is not node:
            message = f"the node {node.name} has the host name {host} of the node {other.name} in {_place(place)}"
            yield manifest.finding("node/duplicate-hostname", "error", message, _label(HOSTNAME), type="Duplicate value")


def _state(pairs: Pairs) -> Iterator[Diagnostic]:
    overfull = [(node, manifest) for node, manifest in pairs if any(node.used[name] > node.allocatable.get(name, 0) for name in node.used)]
    if overfull:
        message = f"{_nodes(overfull)} {_have(overfull)} pods that ask for more than there is"
        yield overfull[0][1].finding("node/overcommitted", "warning", message, ("status", "allocatable"))
    unready = [(node, manifest) for node, manifest in pairs if _is_unready(manifest) and not node.taints and not node.unschedulable]
    if unready:
        message = f"not Ready, and used all the same because nothing taints or cordons them: {_nodes(unready)}"
        yield unready[0][1].finding("node/not-ready", "warning", message, ("status", "conditions"))


def _is_unready(manifest: Sourced) -> bool:
    conditions = manifest.field("status", "conditions")
    return isinstance(conditions, list) and any(
        isinstance(condition, dict) and condition.get("type") == "Ready" and condition.get("status") in ("False", "Unknown")
        for condition in conditions
    )


def _unknown_labels(pairs: Pairs, used: Iterable[str]) -> Iterator[Diagnostic]:
    """Labels that gangs are packed by and no node has: a typing error somewhere, or another cluster's topology."""
    if not pairs:
        return
    known = sorted({label for node, _ in pairs for label in node.labels})
    for label in used:
        if label not in known:
            message = f"no node has the label {label}, which gangs or their topology need"
            yield pairs[0][1].finding("node/no-such-label", "error", message, ("metadata", "labels"), nearest=nearest(label, known))


def _missing(pairs: Pairs, used: Sequence[str], customary: Sequence[str]) -> Iterator[Diagnostic]:
    """Nodes without a label that others have: by a label that gangs name any node, by another topology label GPU nodes."""
    for label in dict.fromkeys((*used, *customary)):
        without = [(node, manifest) for node, manifest in pairs if label not in node.labels and (label in used or node.has_gpus)]
        if without and len(without) < len(pairs) and any(label in node.labels for node, _ in pairs):
            gpus = "GPU " if all(node.has_gpus for node, _ in without) else ""
            message = f"{_nodes(without, gpus)} of {len(pairs)} {_have(without)} no label {label}"
            hint = "pods that are packed by it cannot run there" if label in used else ""
            yield without[0][1].finding("node/missing-label", "warning", message, ("metadata", "labels"), hint=hint)
        empty = [(node, manifest) for node, manifest in pairs if node.labels.get(label) == ""]
        if empty:
            message = f"{_nodes(empty)} {_have(empty)} an empty label {label}, which makes them one domain"
            yield empty[0][1].finding("node/empty-label", "warning", message, _label(label))


def _not_nested(pairs: Pairs, upper: str, lower: str) -> Iterator[Diagnostic]:
    """Values of the nearer label that lie in two domains of the farther one."""
    first: dict[str, tuple[str, str]] = {}
    split: dict[str, tuple[ClusterNode, Sourced]] = {}
    for node, manifest in pairs:
        inner, outer = node.labels.get(lower), node.labels.get(upper)
        if inner is None or outer is None:
            continue
        known, _ = first.setdefault(inner, (outer, node.name))
        if known != outer:
            split.setdefault(inner, (node, manifest))
    for position, (inner, (node, manifest)) in enumerate(split.items()):
        rest = len(split) - position - 1
        last = position == MOST_EACH - 1 and rest
        outer, name = first[inner]
        message = f"{lower}={inner} lies in two domains of {upper}: {outer} (node {name}) and {node.labels[upper]} (node {node.name})"
        more = f"; {rest} more values of {lower} do, too" if last else ""
        yield manifest.finding("node/not-nested", "warning", message + more, _label(lower))
        if last:
            return


def _chains(gangs: Iterable[Gang]) -> list[tuple[str, ...]]:
    """Labels in the order in which they nest: those of topologies, and those of each gang's constraints from outside to inside."""
    chains: dict[tuple[str, ...], None] = {}
    for gang in gangs:
        for scope in gang.scope.walk():
            for key in (scope.required, scope.preferred):
                if key is not None:
                    chains[key.needed] = None
                    inner = [other for below in scope.walk() for other in (below.required, below.preferred) if other is not None]
                    chains.update((_joined(key, other), None) for other in inner)
    return list(chains)


def _joined(outer: DomainKey, inner: DomainKey) -> tuple[str, ...]:
    """Returns one chain of both; the inner label is not repeated when both are the same."""
    return (outer.name, inner.name) if outer.name != inner.name else (outer.name,)


def _customary(cluster: Iterable[ClusterNode], used: Sequence[str]) -> list[str]:
    """Labels on nodes that by their last part belong to a topology, from far to near, without those that are used anyway."""
    known = {label for node in cluster for label in node.labels if label.rpartition("/")[2] in TOPOLOGY_WORDS and label not in used}
    return sorted(known, key=lambda label: (TOPOLOGY_WORDS.index(label.rpartition("/")[2]), label))


def _nestings(chains: Iterable[tuple[str, ...]], customary: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of labels of which the second should nest in the first. Custom says nothing about labels of different prefixes."""
    pairs = dict.fromkeys(pair for chain in chains for pair in combinations(chain, 2))
    of_one_prefix = [pair for pair in combinations(customary, 2) if pair[0].rpartition("/")[0] == pair[1].rpartition("/")[0]]
    return [pair for pair in dict.fromkeys((*pairs, *of_one_prefix)) if pair[0] != HOSTNAME]


def _nodes(pairs: Pairs, kind: str = "") -> str:
    word = f"{kind}node" if len(pairs) == 1 else f"{kind}nodes"
    return f"{len(pairs)} {word} ({names(node.name for node, _ in pairs)})"


def _have(pairs: Pairs) -> str:
    return "has" if len(pairs) == 1 else "have"


def _label(label: str) -> FieldPath:
    return ("metadata", "labels", label)


def _place(manifest: Sourced) -> str:
    return f"{manifest.source.file}:{manifest.source.place((*manifest.at, 'metadata', 'name'))[0]}"
