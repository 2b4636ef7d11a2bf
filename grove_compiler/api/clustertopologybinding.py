"""ClusterTopologyBinding: names for the levels of a cluster's network, any names (shipped semantics §1.11)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grove_compiler.api.clustertopology import LEVEL_COLUMNS, NodeLabelKey
from grove_compiler.api.kube import AGE, Crd, Kube
from grove_compiler.api.metadata import Conditions, KubernetesObject
from grove_compiler.api.topology_constraint import Domain


class TopologyBindingLevel(Kube):
    """One level: a name for workloads and the label that providers put on nodes."""

    domain: Domain
    """Name of the level."""
    key: NodeLabelKey
    """Key of the node label whose values are the domains of this level."""


class SchedulerTopologyBinding(Kube):
    """A scheduler's topology object that is kept by others."""

    scheduler_name: str
    """Scheduler, for example kai-scheduler."""
    topology_reference: str
    """Name of the scheduler's topology object."""


class ClusterTopologyBindingSpec(Kube):
    """What a topology is made of and which schedulers' objects stand for it."""

    levels: Annotated[list[TopologyBindingLevel], Field(min_length=1)]
    """Levels from the broadest to the narrowest."""
    scheduler_topology_bindings: list[SchedulerTopologyBinding] | None = None
    """Topology objects that Grove only compares; those of all other schedulers it makes itself."""


class SchedulerTopologyStatus(SchedulerTopologyBinding):
    """Whether a scheduler's topology object says the same."""

    in_sync: bool
    """Whether the levels are equal."""
    scheduler_backend_topology_observed_generation: int | None = None
    """Generation of the scheduler's object that was compared."""
    message: str | None = None
    """Why they are not in sync."""


class ClusterTopologyBindingStatus(Kube):
    """What is observed of a topology."""

    observed_generation: int | None = None
    """Generation of the spec that the status is about."""
    conditions: Conditions | None = None
    """Aspects of the state."""
    scheduler_topology_statuses: list[SchedulerTopologyStatus] | None = None
    """One entry a scheduler."""


class ClusterTopologyBinding(KubernetesObject):
    """Names for the levels of a cluster's network, and what they are called by schedulers."""

    crd = Crd(
        plural="clustertopologybindings",
        short_names=("ct",),
        columns=(*LEVEL_COLUMNS, AGE),
        scope="Cluster",
    )

    api_version: Literal["grove.io/v1alpha1"]
    """Version of the API that the object is written in."""
    kind: Literal["ClusterTopologyBinding"]
    """Kind of the object."""
    spec: ClusterTopologyBindingSpec
    """What the topology is made of."""
    status: ClusterTopologyBindingStatus | None = None
    """What is observed of the topology."""
