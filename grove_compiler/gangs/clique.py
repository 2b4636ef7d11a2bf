"""Reads PodCliques: their set, replica and gang, their pod count, and the devices of a pod."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.pod_request import request_of
from grove_compiler.labels import BASE_GANG_LABEL, GANG_LABEL, GROUP_LABEL, MEMBER_LABEL, PART_OF, REPLICA_LABEL
from grove_compiler.record import record
from kube_objects.manifest import labels_of, namespaced_name, section
from kube_objects.quantity import QuantityError

CLIQUE_KIND = "PodClique"
GPU, MIG = "GPU", "MIG device"
"""Whole GPUs of any vendor, and MIG slices. Up to seven slices make one GPU, so the two are never added up."""

NO_INDEX = -1
"""The index of an object without such a label: 0 would be the first replica."""

Key = tuple[str, str]
"""Namespace and name."""


@record(slots=False)  # without slots: `devices` is computed lazily
class CompiledClique:
    """Holds the facts of one PodClique.

    `replica` is that of the set, `group_replica` that of the scaling group (`NO_INDEX` without the label); `group` is empty outside of
    scaling groups. `gang` and `base_gang` are the labels', the latter only in gangs beyond the base gang. Of its `pods`, `minimum` must
    start together.
    """

    namespace: str
    name: str
    set_name: str
    replica: int
    group: str
    group_replica: int
    gang: str
    base_gang: str
    pods: int
    minimum: int
    pod_spec: Manifest

    @cached_property
    def devices(self) -> dict[str, int]:
        """The GPUs and MIG devices that one pod requests, by `GPU` and `MIG`; without entries of zero."""
        return devices_of(self.pod_spec)

    @property
    def gpus(self) -> int:
        """The number of GPUs of one pod."""
        return self.devices.get(GPU, 0)

    @property
    def scaled(self) -> bool:
        """Reports whether the clique is in a scaled gang, which starts after its base gang."""
        return bool(self.base_gang)

    @property
    def template_name(self) -> str:
        """The name of the clique in the set's template: the object's name without the prefix of its replica."""
        parent = (self.group, self.group_replica) if self.group else (self.set_name, self.replica)
        return self.name.removeprefix(f"{parent[0]}-{parent[1]}-")


def read_clique(manifest: Manifest) -> CompiledClique:
    """Reads a PodClique's manifest."""
    labels, spec = labels_of(manifest), section(manifest, "spec")
    pods = spec.get("replicas") or 0
    return CompiledClique(
        *namespaced_name(manifest),
        set_name=labels.get(PART_OF, ""),
        replica=index_of(labels.get(REPLICA_LABEL)),
        group=labels.get(GROUP_LABEL, ""),
        group_replica=index_of(labels.get(MEMBER_LABEL)),
        gang=labels.get(GANG_LABEL, ""),
        base_gang=labels.get(BASE_GANG_LABEL, ""),
        pods=pods,
        minimum=spec.get("minAvailable") or pods,
        pod_spec=section(spec, "podSpec"),
    )


def read_cliques(objects: Iterable[Manifest]) -> dict[Key, CompiledClique]:
    """Reads every PodClique of these objects, in their order."""
    cliques = [read_clique(manifest) for manifest in objects if manifest.get("kind") == CLIQUE_KIND]
    return {(clique.namespace, clique.name): clique for clique in cliques}


def devices_of(pod_spec: Manifest) -> dict[str, int]:
    """Returns the number of GPUs and of MIG devices that one pod requests, in that order; empty where a quantity is malformed."""
    try:
        requested = request_of(pod_spec, lambda resource: bool(device_of(resource)))
    except QuantityError:
        return {}
    totals = {device: sum(number for resource, number in requested.items() if device_of(resource) == device) for device in (GPU, MIG)}
    return {device: number for device, number in totals.items() if number}


def device_of(resource: str) -> str:
    """Returns the device that a resource counts: `GPU` for `nvidia.com/gpu`, `MIG device` for `nvidia.com/mig-1g.5gb`, else empty."""
    name = resource.rpartition("/")[2]
    return GPU if name == "gpu" and "/" in resource else MIG if name.startswith("mig-") else ""


def index_of(label: Any) -> int:
    """Returns the index in a label's value; `NO_INDEX` where the label is absent or no number."""
    return int(label) if isinstance(label, str) and label.isascii() and label.isdecimal() else NO_INDEX
