"""Sets that ask for multi-node NVLink, as short as a test can say them."""

from __future__ import annotations

from typing import Any

from .pages import Manifest

GPU = {"limits": {"nvidia.com/gpu": 4}}


def clique(name: str, gpu: bool = True, **entry: Any) -> Manifest:
    """A clique of one container; `entry` adds to its spec, `annotations` to itself."""
    container: Manifest = {"name": "main", "image": "busybox", **({"resources": GPU} if gpu else {})}
    outside = {"annotations": entry.pop("annotations")} if "annotations" in entry else {}
    return {"name": name, **outside, "spec": {"roleName": name, "replicas": 1, "podSpec": {"containers": [container]}, **entry}}


def group(name: str, cliques: list[str], **entry: Any) -> Manifest:
    """A scaling group of three replicas."""
    return {"name": name, "cliqueNames": cliques, "replicas": 3, "minAvailable": 1, **entry}


def pcs(
    cliques: list[Manifest], groups: list[Manifest] | None = None, annotations: dict[str, str] | None = None, **template: Any
) -> Manifest:
    """A set called `demo` of two replicas."""
    metadata = {"name": "demo", "namespace": "default", **({"annotations": annotations} if annotations else {})}
    spec = {"replicas": 2, "template": {"cliques": cliques, **({"podCliqueScalingGroups": groups} if groups else {}), **template}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def mnnvl(scope: str = "", device_class: str = "", enabled: str = "true") -> dict[str, str]:
    """The design's annotations."""
    return {
        "grove.io/mnnvl-enabled": enabled,
        **({"grove.io/mnnvl-scope": scope} if scope else {}),
        **({"grove.io/mnnvl-device-class": device_class} if device_class else {}),
    }
