"""ResourceClaims that several pods share, declared on a set, scaling group or clique (shipped semantics §1.2 to §1.4)."""

from __future__ import annotations

from typing import Literal

from grove_compiler.api.kube import Kube, ResourceClaimTemplateSpec


class ResourceClaimTemplateConfig(Kube):
    """A claim template that resourceSharing can name."""

    name: str
    """Name of the template, unique in the set."""
    template_spec: ResourceClaimTemplateSpec
    """The claims that are made from it (resource.k8s.io/v1)."""


class ResourceSharing(Kube):
    """Claims made from one template; on a clique they go to all its pods."""

    name: str
    """Name of one of the set's resourceClaimTemplates, else of a ResourceClaimTemplate object."""
    namespace: str | None = None
    """Namespace of the ResourceClaimTemplate object, that of the set when absent."""
    scope: Literal["AllReplicas", "PerReplica"]
    """Whether all replicas share one claim or each replica has its own."""


class PodCliqueScalingGroupFilter(Kube):
    """Which children of a scaling group receive the claims."""

    child_clique_names: list[str] | None = None
    """Names of cliques."""


class PodCliqueScalingGroupResourceSharing(ResourceSharing):
    """Claims that the cliques of a scaling group share."""

    filter: PodCliqueScalingGroupFilter | None = None
    """Children that receive the claims; all when absent."""


class PodCliqueSetFilter(PodCliqueScalingGroupFilter):
    """Which children of a set receive the claims."""

    child_scaling_group_names: list[str] | None = None
    """Names of scaling groups."""


class PodCliqueSetResourceSharing(ResourceSharing):
    """Claims that the children of a set share."""

    filter: PodCliqueSetFilter | None = None
    """Children that receive the claims; all when absent."""
