"""Small PodCliqueSets for tests of the model's checks: just enough of a manifest, written in one line."""

from __future__ import annotations

from typing import Any

from grove_compiler.model.spec.podcliqueset import PodCliqueSet

from ..shipped import decisions


def clique(name: str, replicas: int = 1, **fields: Any) -> dict[str, Any]:
    """An entry of `spec.template.cliques`; `starts_after`, `scaling` go into its spec, other fields beside it."""
    spec: dict[str, Any] = {
        "roleName": name,
        "replicas": replicas,
        "minAvailable": 1,
        "podSpec": {"containers": [{"name": "c", "image": "i"}]},
    }
    if "starts_after" in fields:
        spec["startsAfter"] = fields.pop("starts_after")
    if "scaling" in fields:
        spec["autoScalingConfig"] = fields.pop("scaling")
    return {"name": name, "spec": spec, **fields}


def group(name: str, cliques: list[str], replicas: int = 1, **fields: Any) -> dict[str, Any]:
    """An entry of `spec.template.podCliqueScalingGroups`."""
    return {"name": name, "cliqueNames": cliques, "replicas": replicas, "minAvailable": 1, **fields}


Entries = list[dict[str, Any]]


def pcs(name: str, cliques: Entries, groups: Entries | None = None, replicas: int = 1, **template: Any) -> PodCliqueSet:
    """A set with these cliques and groups; other fields go into its template."""
    spec = {"replicas": replicas, "template": {"cliques": cliques, "podCliqueScalingGroups": groups or [], **template}}
    return PodCliqueSet({"metadata": {"name": name}, "spec": spec}, decisions=decisions())


def sharing(name: str, scope: str = "AllReplicas") -> list[dict[str, Any]]:
    """A `resourceSharing` list with one entry."""
    return [{"name": name, "scope": scope}]
