"""Reads what of us is installed in a cluster: the operator, whether it leads sets, and our definitions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from applier.cluster import Cluster, find
from applier.errors import Forbidden, UnknownKind
from applier.ref import DEFINITION_KIND, Kind, Manifest, Ref
from grove_cli.queries.mounted_configuration import MountedFile, mounted_configuration, read_mounted
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.conditions import status_of
from grove_compiler.kube.timestamp import time
from grove_compiler.record import record
from kube_objects.manifest import labels_of

if TYPE_CHECKING:
    from grove_cli.reading.files import InputFile

DEPLOYMENT, LEASE = Kind("apps", "v1", "Deployment"), Kind("coordination.k8s.io", "v1", "Lease")
ACCESS = Kind("authorization.k8s.io", "v1", "SelfSubjectAccessReview")
NAMESPACE = "grove-system"
"""Where the documentation installs the operator: who may not list all Deployments may still be allowed to read that one."""
NAME, OPERATOR = "grove-operator", "app.kubernetes.io/name=grove-operator"
"""The Deployment's name in the upstream operator's chart and by default in ours, and the label by which ours is known under any name."""
LEASE_NAME = "grove-operator-leader-election"
VERSION = "app.kubernetes.io/version"
COMPARED = ("schema", "subresources", "additionalPrinterColumns")
"""The fields of a definition's version in which ours and that of a server can differ."""


@record
class InstalledOperator:
    """An operator: a Deployment with its image, or where no Deployment is found a `holder` of the lease. What is not known is empty.

    `held_until` is when the lease ends, in seconds since the epoch. `configuration` is where a Deployment has its own from; none if from
    no ConfigMap.
    """

    namespace: str
    name: str = ""
    version: str = ""
    image: str = ""
    ready: int = 0
    replicas: int = 0
    holder: str = ""
    held_until: float = 0.0
    configuration: MountedFile | None = None


@record
class Definition:
    """One of our definitions in a cluster. `served` are its versions, none if it is missing.

    `difference` is where the schema differs from ours, empty where it does not; none if definitions may not be read.
    """

    name: str
    version: str
    served: Sequence[str]
    difference: str | None = None

    @property
    def matches(self) -> bool | None:
        """Whether it is as ours; none if that is not known."""
        if self.version not in self.served:
            return False
        return None if self.difference is None else not self.difference


async def read_operators(cluster: Cluster) -> list[InstalledOperator] | None:
    """Returns the operators of a cluster; None if neither Deployments nor leases may be read. Raises `ClusterError`."""
    deployments = await _list(cluster, DEPLOYMENT, fields=f"metadata.name={NAME}") or await _list(cluster, DEPLOYMENT, labels=OPERATOR)
    if deployments is None:
        deployments = await _list(cluster, DEPLOYMENT, NAMESPACE, fields=f"metadata.name={NAME}") or None
    if deployments:
        return [_of_deployment(each) for each in deployments]
    leases = await _list(cluster, LEASE, fields=f"metadata.name={LEASE_NAME}")
    if deployments is None and leases is None:
        return None
    return [_of_lease(each) for each in leases or ()]


async def installed_configuration(cluster: Cluster, operators: Sequence[InstalledOperator] | None) -> InputFile | None:
    """Returns the configuration of the first operator that has one which may be read. Raises `ClusterError`."""
    for operator in operators or ():
        if operator.configuration and (found := await read_mounted(cluster, operator.namespace, operator.configuration)):
            return found
    return None


def unknown_configuration(operators: Sequence[InstalledOperator] | None) -> str:
    """Returns that the configuration of an operator is not known, if none that may be read was found; empty where there is none to read."""
    if operators is None or any(one.configuration or one.holder for one in operators):
        return "the operator's configuration (--config)"
    return ""


async def hidden_operator(
    cluster: Cluster, operators: Sequence[InstalledOperator] | None, existing: Sequence[Manifest], namespaces: Iterable[str]
) -> str:
    """Returns what shows that an operator leads sets where neither Deployments nor leases may be read, or where it is down.

    That is the status of any set where none may be read, or that who asks may not create what sets become, in one of the namespaces.
    Raises `ClusterError`.
    """
    if operators is None and (told := reported_status(existing)):
        return told
    try:
        resource = await cluster.resource(ACCESS)
    except UnknownKind:
        return ""
    for namespace in namespaces:
        attributes = {"namespace": namespace, "verb": "create", "group": "grove.io", "resource": "podcliques"}
        review = {"apiVersion": ACCESS.api_version, "kind": ACCESS.kind, "spec": {"resourceAttributes": attributes}}
        if not status_of(await cluster.create(resource, review, manager="grove")).get("allowed"):
            return f"{'hidden from you' if operators is None else 'not ready now'}, and you may not create PodCliques"
    return ""


async def read_definitions(cluster: Cluster, ours: Sequence[Manifest]) -> list[Definition]:
    """Compares definitions of ours with those that a cluster serves. Raises `ClusterError`."""
    try:
        resource = await cluster.resource(DEFINITION_KIND)
        live = await asyncio.gather(*(find(cluster, resource, "", each["metadata"]["name"]) for each in ours))
    except (Forbidden, UnknownKind):
        served = {(kind.plural, kind.kind.group): kind.kind.version for kind in await cluster.resources()}
        return [_of_discovery(each, served) for each in ours]
    return [_compared(mine, theirs) for mine, theirs in zip(ours, live, strict=True)]


def _of_deployment(deployment: Manifest) -> InstalledOperator:
    metadata, spec, status = deployment["metadata"], deployment.get("spec") or {}, deployment.get("status") or {}
    containers = ((spec.get("template") or {}).get("spec") or {}).get("containers") or [{}]
    image = str(containers[0].get("image") or "")
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    version = str(labels_of(deployment).get(VERSION) or tag).removeprefix("v")
    ready, replicas = (int(each or 0) for each in (status.get("readyReplicas"), spec.get("replicas", 1)))
    namespace, configuration = metadata.get("namespace") or "", mounted_configuration(deployment)
    return InstalledOperator(namespace, metadata["name"], version, image, ready, replicas, configuration=configuration)


def _of_lease(lease: Manifest) -> InstalledOperator:
    spec = lease.get("spec") or {}
    until = (time(spec.get("renewTime")) or 0.0) + (spec.get("leaseDurationSeconds") or 0)
    return InstalledOperator(lease["metadata"].get("namespace") or "", holder=str(spec.get("holderIdentity") or "nobody"), held_until=until)


def _of_discovery(ours: Manifest, served: dict[tuple[str, str], str]) -> Definition:
    spec = ours["spec"]
    version = served.get((spec["names"]["plural"], spec["group"]))
    return Definition(ours["metadata"]["name"], spec["versions"][0]["name"], [version] if version else [])


def _compared(ours: Manifest, live: Manifest | None) -> Definition:
    mine = ours["spec"]["versions"][0]
    theirs = {each["name"]: each for each in (live or {}).get("spec", {}).get("versions") or [] if each.get("served")}
    found = theirs.get(mine["name"]) or {}
    differences = (_difference(mine.get(key) or {}, found.get(key) or {}, key) for key in COMPARED)
    return Definition(ours["metadata"]["name"], mine["name"], [*theirs], next(filter(None, differences), ""))


def _difference(ours: Any, live: Any, path: str) -> str:
    """Returns the path of the first difference; empty if there is none."""
    if isinstance(ours, dict) and isinstance(live, dict):
        found = (_difference(ours.get(key), live.get(key), f"{path}.{key}") for key in sorted({*ours, *live}))
        return next(filter(None, found), "")
    if isinstance(ours, list) and isinstance(live, list) and len(ours) == len(live):
        pairs = enumerate(zip(ours, live, strict=True))
        return next(filter(None, (_difference(mine, theirs, f"{path}[{number}]") for number, (mine, theirs) in pairs)), "")
    return "" if ours == live else path


async def _list(cluster: Cluster, kind: Kind, namespace: str = "", *, labels: str = "", fields: str = "") -> list[Manifest] | None:
    """Returns the objects of a kind, in all namespaces without one; None if they may not be read."""
    try:
        return (await cluster.list(await cluster.resource(kind), namespace, labels=labels, fields=fields)).items
    except (Forbidden, UnknownKind):
        return None


def leading_operator(operators: Sequence[InstalledOperator] | None, live: Sequence[Manifest], now: float) -> str:
    """Returns what shows that an operator is at work, in a few words; empty where nothing does. `live` are objects of the cluster.

    An operator shows by its Deployment, by a Lease that it renews, or, where it runs elsewhere or nobody may read those, by the status of
    the sets: only an operator writes it.
    """
    for one in operators or ():
        if one.ready:
            return f"Deployment {one.namespace}/{one.name}"
        if now < one.held_until:
            return f"Lease {one.namespace}/{LEASE_NAME}, held by {one.holder}"
    return reported_status(live)


def reported_status(live: Sequence[Manifest]) -> str:
    """Returns `status of PodCliqueSet …` for the first set whose status an operator has written; empty if there is none."""
    led = next((one for one in live if one["kind"] == SET_KIND and (one.get("status") or {}).get("observedGeneration")), None)
    return f"status of {SET_KIND} {Ref.of(led).namespace}/{Ref.of(led).name}" if led is not None else ""
