"""ClusterTopology: names for the levels of a cluster's network, of seven kinds at most (GREP-244)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grove_compiler.api.kube import AGE, Cel, Column, Crd, Kube, Structure
from grove_compiler.api.metadata import KubernetesObject

NodeLabelKey = Annotated[
    str,
    Field(min_length=1, max_length=63, pattern=r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"),
]
StandardDomain = Literal["region", "zone", "datacenter", "block", "rack", "host", "numa"]
"""From the longest network distance to the shortest."""


LEVEL_COLUMNS = (
    Column("Broadest", ".spec.levels[0].domain", "string"),
    Column("Narrowest", ".spec.levels[-1:].domain", "string"),
)
"""What kubectl shows of levels: of a path with several results, as upstream's `.spec.levels[*].domain`, it prints the first alone."""


class TopologyLevel(Kube):
    """One level: a name for workloads and the label that providers put on nodes."""

    domain: StandardDomain
    """Name of the level."""
    key: NodeLabelKey
    """Key of the node label whose values are the domains of this level."""


def _unique(field: str) -> Cel:
    rule = f"self.all(x, self.filter(y, y.{field} == x.{field}).size() == 1)"
    return Cel(rule, f"{field} must be unique across all levels")


class ClusterTopologySpec(Kube):
    """What a topology is made of."""

    levels: Annotated[
        list[TopologyLevel],
        Field(min_length=1, max_length=7),
        Structure({"validations": [_unique("domain").manifest(), _unique("key").manifest()]}),
    ]
    """Levels from the broadest to the narrowest."""


class ClusterTopology(KubernetesObject):
    """Names for the levels of a cluster's network."""

    crd = Crd(
        plural="clustertopologies",
        short_names=(),  # ClusterTopologyBinding has `ct`, and two kinds of a group cannot share a short name
        columns=(*LEVEL_COLUMNS, AGE),
        scope="Cluster",
        status=False,
    )

    api_version: Literal["grove.io/v1alpha1"]
    """Version of the API that the object is written in."""
    kind: Literal["ClusterTopology"]
    """Kind of the object."""
    spec: ClusterTopologySpec
    """What the topology is made of."""
