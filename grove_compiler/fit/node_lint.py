"""Checks nodes' labels and state for mistakes that would leave pods pending forever."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from grove_compiler.fit.cluster import HOSTNAME, Cluster, ClusterNode
from grove_compiler.fit.gang import GangDemand
from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.nearest import nearest
from kube_objects.manifest import maps
from kube_objects.words import listed

TOPOLOGY_WORDS = ("region", "zone", "datacenter", "block", "nvl-block", "rack", "nvlink-domain", "nvl-domain")
"""The last parts by which label keys customarily name topology levels, from far to near."""
MAX_EACH = 5
"""At most this many findings of one kind about one label are listed; the last one counts the rest."""


def lint_nodes(cluster: Cluster, gangs: Sequence[GangDemand]) -> list[Diagnostic]:
    """Returns every finding on the nodes' labels and state, in the order of checks; labels that gangs name are checked more strictly."""
    chains = _chains(gangs)
    used = list(dict.fromkeys(label for chain in chains for label in chain))
    customary = _customary(cluster, used)
    result = [*_doubles(cluster), *_state(cluster), *_unknown_labels(cluster, used), *_missing(cluster, used, customary)]
    for upper, lower in _nestings(chains, customary):
        result += _not_nested(cluster, upper, lower)
    return result


def _doubles(cluster: Cluster) -> Iterator[Diagnostic]:
    """Reports two nodes of one name or host name: pods that must share a host would take them for one."""
    hosts: dict[str, ClusterNode] = {}
    nodes: dict[str, ClusterNode] = {}
    for node in cluster:
        first = nodes.setdefault(node.name, node)
        if first is not node:
            message = f"the node {node.name} is declared twice, first in {_place(first)}"
            yield node.manifest.finding("node/duplicate-name", "error", message, "metadata", "name", type="Duplicate value")
            continue
        host = node.labels.get(HOSTNAME)
        other = node if host is None else hosts.setdefault(host, node)
        if other is not node:
            message = f"the node {node.name} has the host name {host} of the node {other.name} in {_place(other)}"
            yield _of_label(node, "node/duplicate-hostname", "error", message, HOSTNAME, type="Duplicate value")


def _state(cluster: Cluster) -> Iterator[Diagnostic]:
    overfull = [node for node in cluster if any(node.used[name] > node.allocatable.get(name, 0) for name in node.used)]
    if overfull:
        message = f"{_nodes(overfull)} pods that request more than the node has"
        yield overfull[0].manifest.finding("node/overcommitted", "warning", message, "status", "allocatable")
    unready = [node for node in cluster if _is_unready(node) and not node.taints and not node.unschedulable]
    if unready:
        # Controllers taint nodes that are not ready, so a file with others was edited.
        message = f"not Ready, but used, since they are neither tainted nor cordoned: {listed(node.name for node in unready)}"
        yield unready[0].manifest.finding("node/not-ready", "warning", message, "status", "conditions")


def _is_unready(node: ClusterNode) -> bool:
    conditions = maps(node.manifest.field("status", "conditions"))
    return any(condition.get("type") == "Ready" and condition.get("status") in ("False", "Unknown") for condition in conditions)


def _unknown_labels(cluster: Cluster, used: Iterable[str]) -> Iterator[Diagnostic]:
    """Reports labels that gangs are packed by and no node has: a typing error, or another cluster's topology."""
    known = sorted({label for node in cluster for label in node.labels})
    for label in used if cluster else ():
        if label not in known:
            message = f"no node has the label {label}, which gangs or their topology need"
            yield cluster[0].manifest.finding("node/no-such-label", "error", message, "metadata", "labels", nearest=nearest(label, known))


def _missing(cluster: Cluster, used: Sequence[str], customary: Sequence[str]) -> Iterator[Diagnostic]:
    """Reports nodes without a label that others have: any node if gangs name the label, else GPU nodes without a topology label."""
    for label in (*used, *customary):
        without = [node for node in cluster if label not in node.labels and (label in used or node.has_gpus)]
        if without and any(label in node.labels for node in cluster):
            gpus = "GPU " if all(node.has_gpus for node in without) else ""
            message = f"{_nodes(without, gpus, f' of {len(cluster)}')} no label {label}"
            hint = "pods that are packed by it cannot run there" if label in used else ""
            yield without[0].manifest.finding("node/missing-label", "warning", message, "metadata", "labels", hint=hint)
        empty = [node for node in cluster if node.labels.get(label) == ""]
        if empty:
            yield _of_label(
                empty[0], "node/empty-label", "warning", f"{_nodes(empty)} an empty label {label}, which makes them one domain", label
            )


def _not_nested(cluster: Cluster, upper: str, lower: str) -> Iterator[Diagnostic]:
    """Reports values of the lower label that lie in two domains of the upper one."""
    first: dict[str, ClusterNode] = {}
    split: dict[str, ClusterNode] = {}
    for node in cluster:
        if lower in node.labels and upper in node.labels:
            inner = node.labels[lower]
            if first.setdefault(inner, node).labels[upper] != node.labels[upper]:
                split.setdefault(inner, node)
    for position, (inner, node) in enumerate(list(split.items())[:MAX_EACH], 1):
        other = first[inner]
        domains = f"{other.labels[upper]} (node {other.name}) and {node.labels[upper]} (node {node.name})"
        more = f"; {len(split) - position} more values of {lower} do, too" if position == MAX_EACH < len(split) else ""
        yield _of_label(node, "node/not-nested", "warning", f"{lower}={inner} lies in two domains of {upper}: {domains}{more}", lower)


def _chains(gangs: Iterable[GangDemand]) -> list[tuple[str, ...]]:
    """Returns sequences of labels that should nest, outermost first: those of topologies and of each gang's nested constraints."""
    chains: dict[tuple[str, ...], None] = {}
    for gang in gangs:
        for scope in gang.scope.walk():
            inner = [key.name for below in scope.walk() for key in below.keys]
            for key in scope.keys:
                chains[key.needed] = None
                chains.update(((key.name, name) if name != key.name else (name,), None) for name in inner)
    return list(chains)


def _customary(cluster: Iterable[ClusterNode], used: Sequence[str]) -> list[str]:
    """Returns labels on nodes whose last part customarily names a topology level, from far to near, without those in `used`."""
    known = {label for node in cluster for label in node.labels if label.rpartition("/")[2] in TOPOLOGY_WORDS and label not in used}
    return sorted(known, key=lambda label: (TOPOLOGY_WORDS.index(label.rpartition("/")[2]), label))


def _nestings(chains: Iterable[tuple[str, ...]], customary: Sequence[str]) -> list[tuple[str, str]]:
    """Returns pairs of labels of which the second should nest in the first; customary labels pair only within one prefix."""
    pairs = dict.fromkeys(pair for chain in chains for pair in combinations(chain, 2))
    of_one_prefix = [pair for pair in combinations(customary, 2) if pair[0].rpartition("/")[0] == pair[1].rpartition("/")[0]]
    return [pair for pair in dict.fromkeys((*pairs, *of_one_prefix)) if pair[0] != HOSTNAME]


def _nodes(nodes: Sequence[ClusterNode], kind: str = "", of: str = "") -> str:
    """Returns the beginning of a sentence, such as `1 GPU node (a) of 3 has`."""
    word, verb = ("node", "has") if len(nodes) == 1 else ("nodes", "have")
    return f"{len(nodes)} {kind}{word} ({listed(node.name for node in nodes)}){of} {verb}"


def _of_label(node: ClusterNode, code: str, severity: Severity, message: str, label: str, **more: Any) -> Diagnostic:
    return node.manifest.finding(code, severity, message, "metadata", "labels", label, **more)


def _place(node: ClusterNode) -> str:
    finding = node.manifest.finding("", "error", "", "metadata", "name")
    return f"{finding.file}:{finding.line}"
