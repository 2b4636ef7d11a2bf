"""PodGang: pods that a scheduler places together or not at all (shipped semantics §1.5, §1.10)."""

from __future__ import annotations

from typing import ClassVar, Literal

from grove_compiler.api.kube import AGE, SCHEDULER, Column, Crd, Int32, Kube
from grove_compiler.api.metadata import Conditions, KubernetesObject


class _Scheduler(Kube):
    package: ClassVar[str] = SCHEDULER


class NamespacedName(_Scheduler):
    """Names an object of any kind that the field fixes."""

    namespace: str
    """Namespace of the object."""
    name: str
    """Name of the object."""


class SchedulerTopologyPackConstraint(_Scheduler):
    """Keys of node labels whose values the pods must or should share."""

    type_name: ClassVar[str] = "TopologyPackConstraint"

    required: str | None = None
    """Key of the node label whose value all pods must share."""
    preferred: str | None = None
    """Key of the node label whose value all pods should share."""


class SchedulerTopologyConstraint(_Scheduler):
    """Placement in terms of node labels."""

    type_name: ClassVar[str] = "TopologyConstraint"

    pack_constraint: SchedulerTopologyPackConstraint | None = None
    """Node labels to pack by."""


class SchedulerPodGroup(_Scheduler):
    """Pods of a gang that were made from one template."""

    type_name: ClassVar[str] = "PodGroup"

    name: str
    """Name of the group, which is that of its PodClique."""
    pod_references: list[NamespacedName]
    """Pods of the group as far as they exist."""
    min_replicas: Int32
    """Pods that have to be scheduled together."""
    topology_constraint: SchedulerTopologyConstraint | None = None
    """Placement of this group."""


class TopologyConstraintGroupConfig(_Scheduler):
    """Placement of several groups together."""

    name: str
    """Name of the configuration, which is that of a scaling group's replica."""
    pod_group_names: list[str]
    """Groups that it holds for."""
    topology_constraint: SchedulerTopologyConstraint | None = None
    """Placement of these groups."""


class PodGangSpec(_Scheduler):
    """What a gang asks of the scheduler."""

    podgroups: list[SchedulerPodGroup]
    """Groups of pods that make up the gang."""
    topology_constraint: SchedulerTopologyConstraint | None = None
    """Placement of the whole gang."""
    topology_constraint_group_configs: list[TopologyConstraintGroupConfig] | None = None
    """Placement of parts of the gang."""
    priority_class_name: str | None = None
    """PriorityClass of the gang."""
    reuse_reservation_ref: NamespacedName | None = None
    """Gang whose reservation of resources may be used."""


class PodGangStatus(_Scheduler):
    """What is observed of a gang."""

    phase: Literal["Pending", "Starting", "Running"]
    """Where the gang stands in its life."""
    conditions: Conditions | None = None
    """Aspects of the state."""
    placement_score: float | None = None
    """How good the placement is, from 0 to 1, as the scheduler sees it."""


class PodGang(KubernetesObject):
    """Pods that a scheduler places together or not at all."""

    package = SCHEDULER
    crd = Crd(plural="podgangs", short_names=("pg",), columns=(Column("Phase", ".status.phase", "string"), AGE))

    api_version: Literal["scheduler.grove.io/v1alpha1"]
    """Version of the API that the object is written in."""
    kind: Literal["PodGang"]
    """Kind of the object."""
    spec: PodGangSpec
    """What the gang asks of the scheduler."""
    status: PodGangStatus | None = None
    """What is observed of the gang."""
