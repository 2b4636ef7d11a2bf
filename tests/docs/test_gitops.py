"""The rule that the page about GitOps gives sets a condition Ready with: tools wait for it, so it has to be true."""

from __future__ import annotations

import re

from grove_compiler.kube.conditions import condition_of
from grove_compiler.model.inputs.settings import Settings
from tests.features.compiling import program_with
from tests.simulation.sets import demo, image
from tests.simulation.simulation import Simulation
from tests.simulation.world import SET
from tests.step.world import context
from tests.training.jobs import finish, job

from .pages import DOCS


def created(manifest: dict[str, object], room: int = 1000) -> Simulation:
    """A simulation in which somebody has created a set, whose operator has the rule."""
    [rule] = re.findall(r"```yaml\n# rules/ready.yaml\n(.*?)```", (DOCS / "gitops.md").read_text(), re.DOTALL)
    simulation = Simulation(context(Settings(pods=True, kube_version="1.35"), program=program_with(rule)), room)
    simulation.world.apply(manifest)
    simulation.settle()
    return simulation


def ready(simulation: Simulation) -> tuple[str, str, str]:
    """Status, reason and message of the condition."""
    condition = condition_of(simulation.world.get(SET, "demo"), "Ready")
    return condition["status"], condition["reason"], condition["message"]


SERVES = ("True", "Serves", "All replicas are available and up to date")


def test_a_set_is_ready_when_it_serves() -> None:
    assert ready(created(demo())) == SERVES


def test_a_set_that_does_not_fit_is_not_ready() -> None:
    assert ready(created(demo(replicas=2), room=9)) == ("False", "Progressing", "1 of 2 replicas are available")


def test_a_set_is_not_ready_until_its_update_has_ended() -> None:
    simulation = created(demo())
    simulation.machines.room = 0
    simulation.edit(image("new", 0))
    simulation.settle()
    assert ready(simulation) == ("False", "Updating", "An update is in progress")
    simulation.machines.room = 1000
    simulation.settle()
    assert ready(simulation) == SERVES


def test_a_training_workload_is_ready_while_it_runs_and_once_it_has_succeeded() -> None:
    simulation = created(job())
    assert ready(simulation)[:2] == ("True", "Running")
    finish(simulation)
    assert ready(simulation)[:2] == ("True", "Succeeded")
    assert ready(created(job(), room=0))[:2] == ("False", "Pending")
