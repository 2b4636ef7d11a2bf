"""Reads a pod's containers: the resources and claims that they request, their variables, and their volume mounts."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.pod_request import amount
from grove_compiler.model.declared import declared
from grove_compiler.record import record
from kube_objects.quantity import QuantityError

TOPOLOGY_VARIABLE = "NCCL_TOPO_FILE"


@record(slots=False)
class Container:
    """A container, init container or sidecar; `path` is its field path in the pod."""

    manifest: Manifest
    path: str

    name = declared(str, "name")
    env = declared(list[Manifest], "env")
    mounts = declared(list[Manifest], "volumeMounts")
    claims = declared(list[Manifest], "resources.claims")

    @property
    def variables(self) -> dict[str, Manifest]:
        """Its environment variables by name. Of duplicates the last one applies, as in the kubelet."""
        return {str(variable.get("name") or ""): variable for variable in self.env}

    @property
    def is_guaranteed(self) -> bool:
        """Whether its CPU and memory meet the QoS class Guaranteed: both have limits, and the requests equal them."""
        resources = self.manifest.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        pairs = [(_amount(name, limits.get(name)), _amount(name, requests.get(name, limits.get(name)))) for name in ("cpu", "memory")]
        return all(limit and limit == request for limit, request in pairs)

    @property
    def resource_names(self) -> set[str]:
        """The resources that its limits or requests name."""
        resources = self.manifest.get("resources") or {}
        return {str(name) for part in ("limits", "requests") for name in resources.get(part) or {}}

    def requested(self, resource: str) -> int:
        """Returns the requested amount of a resource: the larger of its limit and its request. An invalid quantity counts as 0."""
        resources = self.manifest.get("resources") or {}
        return max(_amount(resource, (resources.get(part) or {}).get(resource)) for part in ("limits", "requests"))

    @property
    def topology_mount(self) -> Manifest | None:
        """The innermost mount that contains the file named by NCCL_TOPO_FILE; none without such a variable or mount."""
        file = str(self.variables.get(TOPOLOGY_VARIABLE, {}).get("value") or "")
        containing = [mount for mount in self.mounts if file and _is_inside(file, str(mount.get("mountPath") or ""))]
        return max(containing, key=lambda mount: len(mount["mountPath"]), default=None)


def copied_mount(mount: Manifest) -> Manifest:
    """Returns a mount as an unprivileged container may have it.

    Its path has no slash at the end, so that two spellings of a folder are one. What such a container mounts does not propagate to the
    node: an API server allows that to privileged ones only.
    """
    path = str(mount.get("mountPath") or "").rstrip("/") or "/"
    propagation = {"mountPropagation": "HostToContainer"} if mount.get("mountPropagation") == "Bidirectional" else {}
    return {**mount, "mountPath": path, **propagation}


def containers_of(pod_spec: Manifest) -> list[Container]:
    """Returns the containers of a pod, then its init containers, including sidecars."""
    return [
        Container(container, f"spec.{field}[{index}]")
        for field in ("containers", "initContainers")
        for index, container in enumerate(pod_spec.get(field) or [])
    ]


def _amount(resource: str, value: Any) -> int:
    if value is None:
        return 0
    try:
        return max(0, amount(resource, value))
    except QuantityError:
        return 0


def _is_inside(file: str, folder: str) -> bool:
    return bool(folder) and (file == folder or file.startswith(folder.rstrip("/") + "/"))
