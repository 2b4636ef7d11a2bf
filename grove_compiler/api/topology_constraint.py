"""Where the pods of a set, scaling group or clique have to be packed (shipped semantics §1.6, GREP-244)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from grove_compiler.api.kube import Cel, Kube

Domain = Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[a-z][a-z0-9-]*$")]


class TopologyPackConstraint(Kube):
    """The narrowest domains that the pods must or should share."""

    rules: ClassVar = (
        Cel("has(self.required) || has(self.preferred)", "pack must specify at least one of required or preferred", "FieldValueRequired"),
    )

    required: Domain | None = None
    """Domain that all pods of a replica must share; without room for them in one, nothing is scheduled."""
    preferred: Domain | None = None
    """Domain that all pods of a replica should share where there is room."""


class TopologyConstraint(Kube):
    """Placement of each replica; replicas may lie in different domains."""

    rules: ClassVar = (
        Cel(
            "has(self.pack) || has(self.packDomain)",
            "topologyConstraint must specify pack or deprecated packDomain",
            "FieldValueRequired",
            ".pack",
        ),
        Cel(
            "!(has(self.packDomain) && has(self.pack) && has(self.pack.required))",
            "must not set both pack.required and deprecated packDomain: they mean the same",
            field_path=".pack.required",
        ),
    )

    topology_name: str | None = None
    """Name of the ClusterTopologyBinding that defines the domains; inherited by the levels below."""
    pack: TopologyPackConstraint | None = None
    """Domains to pack into."""
    pack_domain: Domain | None = None
    """Domain that all pods of a replica must share; with topologyName write pack.required instead."""
