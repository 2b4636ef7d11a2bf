"""Adds up what the pods of a set ask for, and what they use, by gang and by the domains that they are placed in together."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from applier.cluster import Cluster
from applier.ref import Manifest
from grove_cli.queries.sets_query import GPUS
from grove_cli.queries.tree_query import find_set, list_readable, read_set
from grove_cli.render.domains import Domain, find_domains
from grove_compiler.gangs.gang import read_gang
from grove_compiler.graph.node import Node, ObjectRef
from grove_compiler.kube.conditions import is_true
from grove_compiler.kube.pod_request import Amounts, amounts, request_of
from grove_compiler.labels import CLIQUE_LABEL, GANG_LABEL, PART_OF
from grove_compiler.model.inputs.snapshot import is_finished
from grove_compiler.record import record
from kube_objects.manifest import is_terminating, labels_of, namespace_of, namespaced_name
from kube_objects.quantity import QuantityError

CPU, MEMORY = "cpu", "memory"
METRICS = "metrics.k8s.io"
CLIQUE_API = "grove.io/v1alpha1"
NO_GANG, UNKNOWN = "<none>", "<unknown>"
LABELLED = (("scheduler.grove.io", "PodGang"), ("", "Pod"), ("grove.io", "PodClique"))
"""Kinds of which only a set's own objects are read; a set without them cannot be told about."""
OPTIONAL = (
    ("resource.nvidia.com", "ComputeDomain"),
    ("resource.k8s.io", "ResourceClaimTemplate"),
    ("resource.k8s.io", "ResourceClaim"),
    (METRICS, "PodMetrics"),
)
"""Kinds that a server need not serve. The labels of a set are on none of them for sure."""


@record
class Usage:
    """What some pods ask for, and use: CPU in thousandths, memory in bytes; a use is None where there are no metrics."""

    pods: int = 0
    ready: int = 0
    nodes: int = 0
    gpus: int = 0
    cpu: int = 0
    memory: int = 0
    cpu_used: int | None = None
    memory_used: int | None = None


@record
class DomainUsage:
    """The use of a domain: a ComputeDomain, or the value of a node label.

    `scope` is what has the topology constraint; the `name`, that value, is empty for pods without a node, and `<unknown>` for pods on a
    node that lacks the label or may not be read.
    """

    type: str
    name: str
    scope: str
    usage: Usage


@record
class SetUsage:
    """The use of a set, of its gangs by their names, and of its domains."""

    total: Usage
    gangs: Mapping[str, Usage]
    domains: Sequence[DomainUsage]


def usage_of(pcs: Manifest, objects: Sequence[Manifest]) -> SetUsage:
    """Adds up what the pods of a set ask for. `objects` are those of its namespace, nodes, and PodMetrics where there are any."""
    namespace, name = namespaced_name(pcs)
    local = [each for each in objects if namespace_of(each) == namespace]
    parts = [each for each in local if labels_of(each).get(PART_OF) == name]
    pods = [each for each in parts if each["kind"] == "Pod" and not is_terminating(each) and not is_finished(each)]
    metrics = {each["metadata"]["name"]: each for each in local if each["kind"] == "PodMetrics"}
    by_gang: dict[str, list[Manifest]] = {each["metadata"]["name"]: [] for each in parts if each["kind"] == "PodGang"}
    for pod in pods:
        by_gang.setdefault(labels_of(pod).get(GANG_LABEL) or NO_GANG, []).append(pod)
    gangs = {gang: _sum(members, metrics) for gang, members in by_gang.items()}
    nodes = {each["metadata"]["name"]: labels_of(each) for each in objects if each["kind"] == "Node"}
    return SetUsage(_sum(pods, metrics), gangs, list(_domains(pods, local, nodes, metrics)))


def _domains(
    pods: Sequence[Manifest], local: Sequence[Manifest], nodes: Mapping[str, Mapping[str, str]], metrics: Mapping[str, Manifest]
) -> Iterator[DomainUsage]:
    by_id = {_id(pod): pod for pod in pods}
    others = [each for each in local if each["kind"] != "Pod"]
    for domain in find_domains([Node(_id(each), each, "", (), _clique_of(each), {}) for each in (*others, *pods)]):
        members = [by_id[pod_id] for pod_id in domain.members if pod_id in by_id]
        if domain.type == "mnnvl" and members:
            yield DomainUsage("ComputeDomain", domain.name, "", _sum(members, metrics))
        elif members:
            yield from _of_topology(domain, members, nodes, metrics)


def _of_topology(
    domain: Domain, members: Sequence[Manifest], nodes: Mapping[str, Mapping[str, str]], metrics: Mapping[str, Manifest]
) -> Iterator[DomainUsage]:
    """Yields a use for each value of the node label that a constraint is about."""
    key = domain.required or domain.preferred
    by_value: dict[str, list[Manifest]] = defaultdict(list)
    for pod in members:
        node = (pod.get("spec") or {}).get("nodeName")
        by_value[nodes.get(node, {}).get(key) or UNKNOWN if node else ""].append(pod)
    for value in sorted(by_value):
        yield DomainUsage(key, value, f"{domain.scope} {domain.name}", _sum(by_value[value], metrics))


def _sum(pods: Sequence[Manifest], metrics: Mapping[str, Manifest]) -> Usage:
    asked = [_asked(pod) for pod in pods]
    used = [_used(metrics[pod["metadata"]["name"]]) for pod in pods if pod["metadata"]["name"] in metrics]
    return Usage(
        pods=len(pods),
        ready=sum(is_true(pod, "Ready") for pod in pods),
        nodes=len({node for pod in pods if (node := (pod.get("spec") or {}).get("nodeName"))}),
        gpus=sum(number for each in asked for resource, number in each.items() if resource.endswith(GPUS)),
        cpu=_total(asked, CPU),
        memory=_total(asked, MEMORY),
        cpu_used=_total(used, CPU) if used else None,
        memory_used=_total(used, MEMORY) if used else None,
    )


def _total(each: Iterable[Amounts], resource: str) -> int:
    return sum(amounts.get(resource, 0) for amounts in each)


def _asked(pod: Manifest) -> Amounts:
    try:
        return request_of(pod.get("spec") or {}, lambda name: name in (CPU, MEMORY) or name.endswith(GPUS))
    except QuantityError:  # an API server rejects such a pod
        return {}


def _used(metrics: Manifest) -> Amounts:
    """Returns the use of a pod's containers. CPU is reported in billionths, and rounded up."""
    try:
        used = [amounts(container.get("usage")) for container in metrics.get("containers") or []]
    except QuantityError:
        return {}
    return {resource: _total(used, resource) for resource in (CPU, MEMORY)}


def _clique_of(manifest: Manifest) -> ObjectRef | None:
    """Returns the PodClique of a pod, by its label."""
    clique = labels_of(manifest).get(CLIQUE_LABEL) if manifest["kind"] == "Pod" else None
    return ObjectRef(CLIQUE_API, "PodClique", namespace_of(manifest), clique, "") if clique else None


def _id(manifest: Manifest) -> str:
    return "/".join((manifest["kind"], *namespaced_name(manifest)))


@record
class UsageObjects:
    """A set, the objects of its namespace and the nodes, and the kinds that could not be read, with the reason."""

    set: Manifest
    objects: list[Manifest]
    unread: list[str]


async def read_usage(cluster: Cluster, argument: str, namespace: str) -> UsageObjects:
    """Reads the set `NAME` or `pcs/NAME`. Raises `ClusterError`, `NoSuchObject`."""
    _, pcs = await read_set(cluster, argument, namespace)
    name, served = pcs["metadata"]["name"], {(resource.kind.group, resource.kind.kind): resource for resource in await cluster.resources()}
    labelled = [served[group_kind] for group_kind in LABELLED if group_kind in served]
    lists = await asyncio.gather(*(cluster.list(resource, namespace, labels=f"{PART_OF}={name}") for resource in labelled))
    objects = [each for listing in lists for each in listing.items]
    wanted = [served[group_kind] for group_kind in OPTIONAL if group_kind in served]
    if ("", "Node") in served and _is_constrained(objects):
        wanted.append(served["", "Node"])
    more, unread = await list_readable(cluster, [(resource, namespace if resource.namespaced else "") for resource in wanted])
    return UsageObjects(pcs, objects + more, unread)


def recorded_usage(argument: str, namespace: str, objects: Sequence[Manifest]) -> UsageObjects:
    """Returns the set and the objects among recorded ones. Raises `NoSuchObject`."""
    return UsageObjects(find_set(argument, namespace, objects), list(objects), [])


def _is_constrained(objects: Iterable[Manifest]) -> bool:
    """Reports whether a gang has a topology constraint, for which the labels of nodes matter."""
    gangs = (read_gang(each) for each in objects if each["kind"] == "PodGang")
    return any(level.required or level.preferred for gang in gangs for level in gang.levels)
