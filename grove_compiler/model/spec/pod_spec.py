"""Reads pod specs: which containers request GPUs and claims, and where objects carry a pod spec."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.model.spec.mention import Mention
from grove_compiler.record import record

GPU = "nvidia.com/gpu"
DOMAIN_CLAIM = "mnnvl"
"""The designs' name for the claim of a ComputeDomain inside pods."""

_SPEC_PATHS = {"PodClique": "/spec/podSpec", "Pod": "/spec"}
_TEMPLATE_PATH = "/spec/template/spec"


@record
class GpuContainer:
    """A container, init container or sidecar that requests GPUs.

    `path` is its field path in the set, `pointer` its JSON pointer inside a pod's spec (`/containers/0`, `/initContainers/1`).
    `claim_names` are the pod's claims that it uses already, by its template.
    """

    path: str
    pointer: str
    name: str
    claim_names: list[str]


def gpu_containers_of(pod_spec: Manifest, path: str) -> list[GpuContainer]:
    """Returns containers, then init containers, whose limits or requests of `nvidia.com/gpu` are not zero. `path` is the pod spec's."""
    return [
        GpuContainer(f"{path}.{field}[{index}]", f"/{field}/{index}", container.get("name") or "", _claim_names(container))
        for field in ("containers", "initContainers")
        for index, container in enumerate(pod_spec.get(field) or [])
        if _asks_for_gpus(container.get("resources") or {})
    ]


def claim_uses_of(pod_spec: Manifest, path: str) -> list[Mention]:
    """Returns the claims of the pod that containers, then init containers, name in `resources.claims`. `path` is the pod spec's."""
    return [
        Mention(name, f"{path}.{field}[{index}].resources.claims[{number}].name")
        for field in ("containers", "initContainers")
        for index, container in enumerate(pod_spec.get(field) or [])
        for number, name in enumerate(_claim_names(container))
    ]


def by_name(items: Any) -> dict[str, Manifest]:
    """Returns the items of a list by name, the first of each name. Those without one are left out: they have findings of their own."""
    named = [item for item in items or () if isinstance(item, dict) and isinstance(item.get("name"), str)]
    return {item["name"]: item for item in reversed(named)}


def pod_spec_path(manifest: Manifest) -> str:
    """Returns the JSON pointer of the pod spec in a PodClique, in a Pod, and in all else that has a pod template (a Deployment, a Job)."""
    return _SPEC_PATHS.get(manifest.get("kind") or "", _TEMPLATE_PATH)


def _asks_for_gpus(resources: Manifest) -> bool:
    return any(_is_some((resources.get(part) or {}).get(GPU)) for part in ("limits", "requests"))


def _claim_names(container: Manifest) -> list[str]:
    return [claim.get("name") or "" for claim in (container.get("resources") or {}).get("claims") or []]


def _is_some(amount: Any) -> bool:
    """Reports whether a quantity is present and not zero. A malformed one, which has a finding of its own, counts."""
    if amount is None or isinstance(amount, int):
        return bool(amount)
    from kube_objects.quantity import QuantityError, is_zero  # only for amounts that are written as text

    try:
        return not is_zero(amount)
    except QuantityError:
        return True
