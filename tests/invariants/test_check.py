"""An audit log tells which ready pods an operator has deleted without a reason.

That of each fault of `tests/simulation/test_put_back.py` does, too: it is judged there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grove_compiler.labels import DELETION_REASON, POD_HASH_LABEL
from tests.invariants.__main__ import main
from tests.invariants.check import Verdict, check
from tests.invariants.simulated_log import SimulatedLog
from tests.simulation.schedules import Action, Edit, Pass, Scale, Tick, play
from tests.simulation.sets import demo, image, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, POD, SET, at_once

LIVE: list[Action] = [Edit("second", ()), Pass(30), Tick(), Pass(30), Tick(), Scale("clique", 1), Pass(30), Scale("group", 1), Pass(30)]
Intervention = Callable[[Simulation], None]


def judged(log: SimulatedLog, folder: Path) -> Verdict:
    return check(log.write(folder / "audit.log"), lag=1.0)


def simulation() -> Simulation:
    return running(demo(replicas=1, front=3, terminationDelay="10m0s"))


def test_nothing_is_found_where_nothing_is_wrong(tmp_path: Path) -> None:
    fine = simulation()
    log = SimulatedLog(fine)
    play(fine, LIVE)
    verdict = judged(log, tmp_path)
    assert (verdict.judged["RollingUpdate"] > 0, verdict.ends > 0) == (True, True)
    assert verdict.faults == []


def delete_pod(world: Simulation, reason: str = "", name: str = "demo-0-front") -> None:
    """The operator deletes a pod for no reason that the world knows."""
    pod = world.world.pods(name)[0]
    if reason:
        world.world.put({**pod, "metadata": {**pod["metadata"], "annotations": {DELETION_REASON: reason}}})
    resource = world.world.cluster.kinds.get(POD)
    at_once(world.operator.connection.cluster.delete(resource, "default", pod["metadata"]["name"], uid=pod["metadata"]["uid"]))
    world.operator.after_write(reason or "some reason")


def delete_clique(world: Simulation) -> None:
    world.world.delete(CLIQUE, "demo-0-front")
    world.operator.after_write("some reason")


WRONG: dict[str, tuple[Intervention, str]] = {
    "a pod that is declared": (delete_pod, "demo-0-front was scaled in to 2 pods, and 3 are declared"),
    "a pod of a set without a breach": (lambda world: delete_pod(world, "GangTermination"), "was deleted for a breach, and there is none"),
    "a pod of a service for a training workload's reason": (lambda world: delete_pod(world, "Failed"), "was deleted for 'Failed'"),
    "a pod that failed, and has not": (lambda world: delete_pod(world, "Replacement"), "was deleted for 'Replacement'"),
    "a PodClique with its pods": (delete_clique, r"demo-0-front was deleted with 3 ready pods"),
}


@pytest.mark.parametrize(("intervention", "said"), WRONG.values(), ids=WRONG.keys())
def test_what_nobody_wants_to_go_is_found(intervention: Intervention, said: str, tmp_path: Path) -> None:
    world = simulation()
    log = SimulatedLog(world)
    intervention(world)
    [fault] = judged(log, tmp_path).faults
    assert said in fault


def scale_in(world: Simulation) -> None:
    world.edit(replicas(2), kind=CLIQUE, name="demo-0-front")
    delete_pod(world)


def delete_set(world: Simulation) -> None:
    world.world.delete(SET, "demo")
    delete_pod(world)


def begin_update(world: Simulation) -> None:
    world.edit(image("second"))
    clique = world.world.get(CLIQUE, "demo-0-front")
    labels = {**clique["metadata"]["labels"], POD_HASH_LABEL: "second"}
    world.world.put({**clique, "metadata": {**clique["metadata"], "labels": labels}})
    delete_pod(world, "RollingUpdate")


def scale_to_zero_after_a_reason_was_written(world: Simulation) -> None:
    """The request that should have followed was not carried out: the operator was killed, or the server away."""
    world.edit(replicas(0))
    delete_pod(world, "RollingUpdate")
    delete_pod(world, "RollingUpdate")
    delete_pod(world, "RollingUpdate")


def make_clique_anew(world: Simulation) -> None:
    old = world.world.get(CLIQUE, "demo-0-front")
    world.world.put({**old, "metadata": {**old["metadata"], "uid": "another"}})
    delete_pod(world)


def delete_namespace(world: Simulation) -> None:
    """Where there are no finalizers, nothing of the set says yet that it will be deleted."""
    now = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}, "status": {"phase": "Active"}}
    world.world.put(now)
    world.world.put({**now, "metadata": {"name": "default", "deletionTimestamp": "2027-01-15T08:00:00Z"}})
    delete_pod(world)


RIGHT: dict[str, Intervention] = {
    "what is scaled in": scale_in,
    "what goes with its set": delete_set,
    "what is scaled to zero though an update was to take it": scale_to_zero_after_a_reason_was_written,
    "what goes with its namespace": delete_namespace,
    "what is left of a PodClique that was made anew": make_clique_anew,
    "the first pod of an update": begin_update,
}


@pytest.mark.parametrize("intervention", RIGHT.values(), ids=RIGHT.keys())
def test_what_has_a_reason_is_not(intervention: Intervention, tmp_path: Path) -> None:
    world = simulation()
    log = SimulatedLog(world)
    intervention(world)
    verdict = judged(log, tmp_path)
    assert verdict.faults == []


def test_a_reason_counts_though_the_answer_to_its_write_was_lost(tmp_path: Path) -> None:
    world = simulation()
    log = SimulatedLog(world)
    begin_update(world)
    del log.events[-2]  # a write without an answer is logged without its object
    verdict = judged(log, tmp_path)
    assert (verdict.judged, verdict.faults) == ({"RollingUpdate": 1}, [])


@pytest.mark.parametrize(("intervention", "code"), [(scale_in, 0), (delete_pod, 1)], ids=["right", "wrong"])
def test_the_command_says_so_with_its_exit_code(
    intervention: Intervention, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = simulation()
    log = SimulatedLog(world)
    intervention(world)
    assert main([str(log.write(tmp_path / "audit.log")), "--lag", "1"]) == code
    assert (
        f"operators deleted 1 ready pods (1 for no longer wanted) and told 0 ends of updates: {code} without a reason"
        in capsys.readouterr().out
    )
