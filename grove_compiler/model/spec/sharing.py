"""Resource sharing as declared: templates of claims, and who shares one (shipped semantics §1.2, §3.11)."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.graph.node import Manifest

ALL_REPLICAS = "AllReplicas"
PER_REPLICA = "PerReplica"


@dataclass(slots=True, eq=False)
class ClaimTemplate:
    """An entry of `spec.template.resourceClaimTemplates`. `spec` is the claim's spec, `requests` its device requests."""

    name: str
    index: int
    path: str
    spec: Manifest
    requests: list[Manifest]


@dataclass(slots=True, eq=False)
class SharingRef:
    """An entry of `resourceSharing` at any level: which template, in which scope, and for which children.

    `namespace` is empty when the manifest names none. `filter` is none when there is no filter, which matches every child; the
    two lists are empty then.
    """

    name: str
    namespace: str
    scope: str
    index: int
    path: str
    filter: Manifest | None
    child_clique_names: list[str]
    child_scaling_group_names: list[str]


def read_claim_templates(template: Manifest, path: str) -> list[ClaimTemplate]:
    """The claim templates of `spec.template`, which stands at `path`."""
    return [
        ClaimTemplate(
            name=entry.get("name") or "",
            index=index,
            path=f"{path}.resourceClaimTemplates[{index}]",
            spec=(spec := (entry.get("templateSpec") or {}).get("spec") or {}),
            requests=(spec.get("devices") or {}).get("requests") or [],
        )
        for index, entry in enumerate(template.get("resourceClaimTemplates") or [])
    ]


def read_sharing(holder: Manifest, path: str) -> list[SharingRef]:
    """The `resourceSharing` of a set's template, a clique or a scaling group, which stands at `path`."""
    return [
        SharingRef(
            name=entry.get("name") or "",
            namespace=entry.get("namespace") or "",
            scope=entry.get("scope") or "",
            index=index,
            path=f"{path}.resourceSharing[{index}]",
            filter=(only := entry.get("filter")),
            child_clique_names=(only or {}).get("childCliqueNames") or [],
            child_scaling_group_names=(only or {}).get("childScalingGroupNames") or [],
        )
        for index, entry in enumerate(holder.get("resourceSharing") or [])
    ]
