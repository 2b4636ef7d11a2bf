"""Training jobs that tests run in a simulation, and what people and machines do to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from applier.ref import Manifest
from tests.model.sets import clique, pcs
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, POD, SET

WORKER = "demo-0-worker"


def job(cliques: list[Manifest] | None = None, *, replicas: int = 1, template: Manifest | None = None, **limits: Any) -> Manifest:
    """A training workload of three workers, unless `cliques` are given; `limits` are its `trainingSpec`."""
    manifest = pcs(cliques or [clique("worker", 3)], replicas=replicas, **{"terminationDelay": "0s", **(template or {})})
    manifest["spec"] |= {"workloadType": "Training", "trainingSpec": limits}
    for one in manifest["spec"]["template"]["cliques"]:
        one["spec"]["podSpec"].setdefault("restartPolicy", "Never")
    return manifest


def started(manifest: Manifest | None = None, **limits: Any) -> Simulation:
    """A simulation in which a job has been running for a minute."""
    return running(manifest or job(**limits))


def away(simulation: Simulation, *interventions: Callable[[], object], seconds: float = 0.0) -> None:
    """Things happen, and time passes, while no operator is there to see them; then another one comes."""
    simulation.operator.kill()
    for intervention in interventions:
        intervention()
    simulation.loop.run_until_complete(asyncio.sleep(seconds))
    simulation.operator.start()


def pod_of(simulation: Simulation, clique: str, index: int) -> Manifest:
    """The live pod with an index; that of the last attempt, where one of another was kept."""
    pods = (pod for pod in simulation.world.pods(clique) if pod["spec"]["hostname"] == f"{clique}-{index}")
    return max(pods, key=lambda pod: int(pod["metadata"]["labels"]["grove.io/attempt"]))


def exit_pod(simulation: Simulation, index: int, code: int = 0, *, clique: str = WORKER, message: str = "") -> None:
    """A pod's program ends."""
    simulation.machines.exit(pod_of(simulation, clique, index), code, message)


def finish(simulation: Simulation, clique: str = "") -> None:
    """All pods that run exit with 0, and what follows happens."""
    for pod in simulation.world.pods(clique):
        simulation.machines.exit(pod)
    simulation.settle()


def fail(simulation: Simulation, index: int = 0, code: int = 1, **where: Any) -> None:
    """A pod exits with a code, and what follows happens."""
    exit_pod(simulation, index, code, **where)
    simulation.settle()


def take(simulation: Simulation, index: int, *, clique: str = WORKER, reason: str = "") -> None:
    """Somebody deletes a pod; with a `reason`, the cluster evicts it."""
    pod = pod_of(simulation, clique, index)
    if reason:
        disruption = {"type": "DisruptionTarget", "status": "True", "reason": reason}
        simulation.world.report(pod, conditions=[*pod["status"]["conditions"], disruption])
    simulation.world.delete(POD, pod["metadata"]["name"])


def attempts(simulation: Simulation) -> set[str]:
    """The attempts that living pods were made for."""
    return {pod["metadata"]["labels"]["grove.io/attempt"] for pod in simulation.world.pods()}


def uids(simulation: Simulation, prefix: str = "") -> set[str]:
    return {pod["metadata"]["uid"] for pod in simulation.world.pods(prefix)}


def phase(simulation: Simulation) -> str:
    return str(simulation.status(SET).get("phase"))


def report(simulation: Simulation, clique: str = WORKER) -> Manifest:
    """What a PodClique reports."""
    return simulation.status(CLIQUE, clique)


def failed_because(simulation: Simulation) -> list[str]:
    """The reasons of the set's condition `Failed`."""
    return [one["reason"] for one in simulation.status().get("conditions", []) if (one["type"], one["status"]) == ("Failed", "True")]


def events(simulation: Simulation) -> list[str]:
    """The reasons of the events that were told, in order."""
    return [one.partition(":")[0] for one in simulation.world.told]


def last_attempt(simulation: Simulation) -> Manifest:
    """How the last attempt ended."""
    last: Manifest = simulation.status()["attempts"][-1]
    return last


def causes(simulation: Simulation) -> list[str]:
    """Why the attempts ended that the status keeps."""
    return [one["cause"] for one in simulation.status().get("attempts", [])]
