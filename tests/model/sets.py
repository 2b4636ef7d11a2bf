"""Sets, and objects of a cluster, as short as a test can say them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grove_compiler.model.expanded.structure import Clique, ExpandedSet
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Snapshot

from ..shipped import decisions

Manifest = dict[str, Any]

APIS = {
    "ControllerRevision": "apps/v1",
    "Pod": "v1",
    "PodClique": "grove.io/v1alpha1",
    "PodCliqueScalingGroup": "grove.io/v1alpha1",
    "PodCliqueSet": "grove.io/v1alpha1",
    "PodGang": "scheduler.grove.io/v1alpha1",
    "ResourceClaimTemplate": "resource.k8s.io/v1",
}
OUTSIDE_SPEC = ("labels", "annotations", "resourceSharing", "topologyConstraint", "rollingUpdate")


def clique(name: str, replicas: int = 1, min_available: int | None = None, **entry: Any) -> Manifest:
    """A clique template; what is neither a keyword here nor a key of the entry goes into its spec."""
    outside: Manifest = {key: entry.pop(key) for key in OUTSIDE_SPEC if key in entry}
    pod_spec = {"containers": [{"name": "main", "image": "busybox"}], **entry.pop("podSpec", {})}
    least = replicas if min_available is None else min_available
    return {"name": name, **outside, "spec": {"roleName": name, "replicas": replicas, "minAvailable": least, "podSpec": pod_spec, **entry}}


def group(name: str, cliques: list[str], replicas: int = 1, min_available: int = 1, **entry: Any) -> Manifest:
    """A scaling-group template."""
    return {"name": name, "cliqueNames": cliques, "replicas": replicas, "minAvailable": min_available, **entry}


def pcs(cliques: list[Manifest], groups: Iterable[Manifest] = (), replicas: int = 1, **template: Any) -> Manifest:
    """A PodCliqueSet called `demo` in the namespace `default`; `metadata` adds to its metadata."""
    metadata = {"name": "demo", "namespace": "default", **template.pop("metadata", {})}
    body = {"cliques": cliques, "podCliqueScalingGroups": list(groups), **template}
    spec = {"replicas": replicas, "template": body}
    return {"apiVersion": APIS["PodCliqueSet"], "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def expand(manifest: Manifest, snapshot: Iterable[Manifest] = (), config: Manifest | None = None, **settings: Any) -> ExpandedSet:
    """The set with everything that exists for it."""
    chosen = Settings(**settings)
    return ExpandedSet(
        manifest, chosen.namespace, decisions(), config=Configuration(config or {}), settings=chosen, snapshot=Snapshot(snapshot)
    )


def find_clique(expanded: ExpandedSet, name: str) -> Clique:
    """The clique of that full name."""
    return next(clique for replica in expanded.replicas for clique in replica.all_cliques if clique.name == name)


def existing(kind: str, name: str, owner: str = "", **parts: Any) -> Manifest:
    """An object of the cluster. Its UID is `uid-of-` and its name; `owner` is `Kind/name`, the controller by its UID."""
    metadata: Manifest = {"name": name, "namespace": "default", "uid": f"uid-of-{name}", **parts.pop("metadata", {})}
    if owner:
        owner_kind, _, owner_name = owner.partition("/")
        reference = {"apiVersion": APIS[owner_kind], "kind": owner_kind, "name": owner_name, "uid": f"uid-of-{owner_name}"}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    return {"apiVersion": APIS[kind], "kind": kind, "metadata": metadata, **parts}


def existing_pod(clique_name: str, suffix: str, index: int, gang: str = "demo-0", **parts: Any) -> Manifest:
    """A pod of a PodClique, with the labels that Grove gives it."""
    labels = {"grove.io/podclique-pod-index": str(index), "grove.io/podgang": gang, **parts.pop("labels", {})}
    metadata = {"labels": labels, **parts.pop("metadata", {})}
    spec = {"hostname": f"{clique_name}-{index}", **parts.pop("spec", {})}
    return existing("Pod", f"{clique_name}-{suffix}", f"PodClique/{clique_name}", metadata=metadata, spec=spec, **parts)
