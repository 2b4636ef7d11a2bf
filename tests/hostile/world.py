"""Two sets that run side by side, and what is looked at after somebody has meddled with the first."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from applier.ref import Kind, Manifest
from tests.hostile.nonsense import ACCOUNT, AUTOSCALER, BINDING, ROLE, SECRET, Change
from tests.model.sets import clique, group, pcs
from tests.simulation.labels import CLIQUE_LABEL, label
from tests.simulation.shapes import Shapes, shapes_of
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GANG, GROUP, POD, REVISION, SERVICE, SET, Moment, is_ready

MADE = (SET, CLIQUE, GROUP, GANG, SERVICE, REVISION, SECRET, ACCOUNT, ROLE, BINDING, AUTOSCALER)
OTHER = "other"
A_WHILE = 120.0
"""Seconds, longer than any retry rests."""


def declared(name: str = "demo", front: int = 2) -> Manifest:
    """A set with one of all: cliques that start in order, a scaling group, an autoscaler."""
    scaled = {"minReplicas": front, "maxReplicas": 4}
    cliques = [clique("front", front, 1, autoScalingConfig=scaled), clique("pre", 2, startsAfter=["dec"]), clique("dec", 1)]
    groups = [group("sg", ["pre", "dec"], 2, 1)]
    return pcs(cliques, groups, metadata={"name": name}, cliqueStartupType="CliqueStartupTypeExplicit")


@cache
def _moment() -> Moment:
    simulation = Simulation()
    for name in ("demo", OTHER):
        simulation.world.apply(declared(name))
    simulation.settle()
    simulation.wait(60)
    simulation.close()
    return simulation.world.moment()


def two_sets(candidates: int = 1) -> Simulation:
    """Two sets that run."""
    return Simulation(moment=_moment(), candidates=candidates)


def revision(simulation: Simulation) -> str:
    """The name of the first set's ControllerRevision."""
    return next(name for one in simulation.world.all(REVISION) if (name := str(one["metadata"]["name"])).startswith("demo-"))


def named(simulation: Simulation, kind: Kind, name: str) -> Manifest:
    """An object of the first set; of pods the first whose name begins so, of revisions the only one."""
    if kind == POD:
        return simulation.world.pods(name)[0]
    return simulation.world.get(kind, revision(simulation) if kind == REVISION else name)


def interfere(simulation: Simulation, kind: Kind, name: str, change: Change) -> Manifest:
    """Somebody edits an object. Returns it as it was."""
    live = named(simulation, kind, name)
    new = copy.deepcopy(live)
    change(new)
    if new.get("spec") != live.get("spec"):
        new["metadata"]["generation"] = live["metadata"].get("generation", 1) + 1
    simulation.world.put(new)
    return live


def look(simulation: Simulation) -> Shapes:
    """All that an operator makes, but for pods, and without what it leaves to others: annotations and finalizers that it does not know."""
    objects = [copy.deepcopy(one) for kind in MADE for one in simulation.world.all(kind)]
    for one in objects:
        one["status"] = _well_formed(one.get("status"))
    shapes = {place: shape for place, shape in shapes_of([*objects, *simulation.world.all(POD)]).items() if place[0] != "Pod"}
    for one in objects:
        shape = shapes[one["kind"], one["metadata"]["name"]]
        shape.pop("annotations")
        shape.pop("finalizers")
        shape["rest"] = {key: value for key, value in one.items() if key not in ("metadata", "spec", "status", "revision")}
    return shapes


def _well_formed(status: Any) -> Manifest:
    if not isinstance(status, dict):
        return {"nonsense": status} if status else {}
    conditions = status.get("conditions") or []
    kept = conditions if isinstance(conditions, list) else []
    return {**status, "conditions": [one for one in kept if isinstance(one, dict) and "type" in one]}


def differences(before: Any, after: Any, path: str = "") -> list[str]:
    """What is otherwise than before, a line each. Labels and fields of a status that an operator does not write may be anybody's."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys([*before, *(() if path.endswith(("/labels", "/status")) else after)])
        return [line for key in keys for line in differences(before.get(key), after.get(key), f"{path}/{key}")]
    return [] if before == after else [f"{path}: {str(before)[:200]} -> {str(after)[:200]}"]


def serving(simulation: Simulation) -> dict[str, str]:
    """The pods that are ready, and the clique of each, by UID."""
    ready = [one for one in simulation.world.pods() if is_ready(one)]
    return {one["metadata"]["uid"]: label(one, CLIQUE_LABEL) for one in ready}


def stalls(simulation: Simulation) -> list[str]:
    """What conditions of sets say that holds them."""
    conditions = [one for set in simulation.world.all(SET) for one in _well_formed(set.get("status"))["conditions"]]
    return [one["message"] for one in conditions if (one["type"], one["status"]) == ("Stalled", "True")]
