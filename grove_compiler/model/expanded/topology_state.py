"""Compares a topology with the schedulers' own topology objects (shipped semantics §8.1)."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import condition_of
from grove_compiler.model.expanded.topology import KAI_API_VERSION, ExpandedTopology
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.spec.topology import KAI
from grove_compiler.record import record


@record
class SchedulerTopology:
    """A scheduler's topology object. `reference` is its name; `generation` is set for one that others make.

    `is_available` tells whether the scheduler is enabled here and supports topologies; `message` tells what is not in sync. `is_ours` tells
    whether the operator makes it for this topology, and so is about to write it where it is not in sync.
    """

    scheduler: str
    reference: str
    in_sync: bool
    is_available: bool
    generation: int | None
    message: str
    is_ours: bool = False


def scheduler_topologies(topology: ExpandedTopology, config: Configuration) -> list[SchedulerTopology]:
    """Returns the topology of each scheduler that supports topologies, and then of those that the topology names but that do not."""
    supported = [_of_kai(topology)] if config.makes_kai_topologies else []
    others = [binding for binding in topology.bindings if not (config.makes_kai_topologies and binding.get("schedulerName") == KAI)]
    return supported + [_unavailable(binding) for binding in others]


def old_drift(topology: ExpandedTopology) -> str:
    """Returns the live status of its condition `SchedulerTopologyDrift`; empty without one."""
    return condition_of(topology.manifest, "SchedulerTopologyDrift").get("status") or ""


def _of_kai(topology: ExpandedTopology) -> SchedulerTopology:
    name = topology.kai_name
    live = topology.snapshot.live(ObjectRef(KAI_API_VERSION, "Topology", "", name))
    is_bound = KAI in topology.bound_schedulers
    generation = live["metadata"].get("generation") if live is not None and is_bound else None
    message = _difference(topology, name, live)
    is_ours = not (is_bound or topology.is_served_by_counterpart or topology.foreign_kai_topology)
    return SchedulerTopology(KAI, name, not message, True, generation, message, is_ours)


def _difference(topology: ExpandedTopology, name: str, live: Manifest | None) -> str:
    if live is None:
        return f'KAI Topology "{name}" not found'
    if topology.foreign_kai_topology is not None:
        return f'KAI Topology "{name}" is not made for this {topology.kind}'
    levels = [level.get("nodeLabel") for level in (live.get("spec") or {}).get("levels") or []]
    return "" if levels == topology.keys else f"KAI Topology levels differ from {topology.kind} levels"


def _unavailable(binding: Manifest) -> SchedulerTopology:
    scheduler, reference = binding.get("schedulerName") or "", binding.get("topologyReference") or ""
    message = f'scheduler backend "{scheduler}" is not available for topology management'
    return SchedulerTopology(scheduler, reference, False, False, None, message)
