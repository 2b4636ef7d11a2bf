"""PodCliques: whose they are, how many pods they have, and what a pod takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.pod_request import request_of
from grove_compiler.kube.quantity import QuantityError
from grove_compiler.record import record

CLIQUE_KIND = "PodClique"
SET = "app.kubernetes.io/part-of"
SET_REPLICA = "grove.io/podcliqueset-replica-index"
GROUP = "grove.io/podcliquescalinggroup"
GROUP_REPLICA = "grove.io/podcliquescalinggroup-replica-index"
GANG_LABEL = "grove.io/podgang"
BASE_GANG = "grove.io/base-podgang"
GPU, MIG = "GPU", "MIG device"
"""Whole GPUs of any vendor, and the slices of them. Seven slices may be one GPU, so both are never added up."""

NO_INDEX = -1
"""The index of what has no such label: 0 would be the first replica."""

Key = tuple[str, str]
"""Namespace and name."""


@record(slots=False)  # without slots: `devices` is worked out once, and only where somebody asks
class Clique:
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
        """The GPUs and MIG devices of one pod, as far as it has any."""
        return devices_of(self.pod_spec)

    @property
    def gpus(self) -> int:
        """GPUs of one pod."""
        return self.devices.get(GPU, 0)

    @property
    def scaled(self) -> bool:
        """Tells whether it is in a gang beyond the base gang, which must have started first."""
        return bool(self.base_gang)

    @property
    def template_name(self) -> str:
        """The name of the clique in the set's template: the object's without that of the replica it stands in."""
        parent = (self.group, self.group_replica) if self.group else (self.set_name, self.replica)
        return self.name.removeprefix(f"{parent[0]}-{parent[1]}-")


def read_clique(manifest: Manifest) -> Clique:
    """Reads a PodClique's manifest."""
    labels, spec = labels_of(manifest), section(manifest, "spec")
    pods = spec.get("replicas") or 0
    return Clique(
        *key_of(manifest),
        set_name=labels.get(SET, ""),
        replica=index_of(labels.get(SET_REPLICA)),
        group=labels.get(GROUP, ""),
        group_replica=index_of(labels.get(GROUP_REPLICA)),
        gang=labels.get(GANG_LABEL, ""),
        base_gang=labels.get(BASE_GANG, ""),
        pods=pods,
        minimum=spec.get("minAvailable") or pods,
        pod_spec=section(spec, "podSpec"),
    )


def read_cliques(objects: Iterable[Manifest]) -> dict[Key, Clique]:
    """Reads every PodClique of these objects, in their order."""
    cliques = [read_clique(manifest) for manifest in objects if manifest.get("kind") == CLIQUE_KIND]
    return {(clique.namespace, clique.name): clique for clique in cliques}


def devices_of(pod_spec: Manifest) -> dict[str, int]:
    """Returns the GPUs and MIG devices that one pod sets aside, in that order; none where a quantity is none."""
    try:
        asked = request_of(pod_spec, lambda resource: bool(device_of(resource)))
    except QuantityError:
        return {}
    totals = {word: sum(number for resource, number in asked.items() if device_of(resource) == word) for word in (GPU, MIG)}
    return {word: number for word, number in totals.items() if number}


def device_of(resource: str) -> str:
    """Returns what a resource counts: `GPU` for `nvidia.com/gpu`, `MIG device` for `nvidia.com/mig-1g.5gb`, empty for others."""
    name = resource.rpartition("/")[2]
    return GPU if name == "gpu" and "/" in resource else MIG if name.startswith("mig-") else ""


def index_of(label: Any) -> int:
    """Returns the number in a label; `NO_INDEX` where there is none."""
    return int(label) if isinstance(label, str) and label.isascii() and label.isdecimal() else NO_INDEX


def key_of(manifest: Manifest) -> Key:
    """Returns an object's namespace and name; empty where it has none."""
    metadata = section(manifest, "metadata")
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def labels_of(manifest: Manifest) -> Manifest:
    """Returns an object's labels."""
    return section(manifest, "metadata", "labels")


def section(value: Any, *path: str) -> Manifest:
    """Returns the map at a path; an empty one where there is none, since rules of users make objects of any shape."""
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, dict) else {}


def maps(values: Any) -> list[Manifest]:
    """Returns the maps of a list; none where it is no list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
