"""An edit that is held can be taken back: with files, and where webhooks are there again (decisions §10)."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable

import pytest

from applier.ref import Manifest
from grove_compiler.compile import Inputs, lint
from grove_compiler.graph.diagnostic import Diagnostic, errors_of
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_operator.webhooks.review import Reviewer
from tests.features.compiling import shipped_program
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import SET
from tests.updates.test_immutable import CASES, FRONT, Edit, at, reviewed, serving
from tests.updates.test_last_valid_spec import IN_ORDER, NO_VALUES
from tests.webhooks.conftest import asked


def existing(simulation: Simulation) -> list[Manifest]:
    return [*simulation.world.cluster.store.objects.values()]


def errors(simulation: Simulation, manifest: Manifest, *old: Manifest) -> list[Diagnostic]:
    inputs = Inputs([Document(manifest)], snapshot=existing(simulation), old=[Document(one) for one in old])
    return errors_of(lint(inputs, shipped_program()))


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_takes_it_back_changes_nothing_and_the_edit_itself_is_the_change(name: str) -> None:
    make: Callable[[], Manifest]
    edit: Edit
    make, edit = CASES[name]
    simulation = running(make())
    before = copy.deepcopy(simulation.world.get(SET, "demo"))
    simulation.edit(edit)
    simulation.settle()
    edited = simulation.world.get(SET, "demo")
    assert errors(simulation, before) == errors(simulation, before, edited) == []
    assert errors(simulation, edited) != []
    assert errors(simulation, edited, edited) != []


def without_minimum() -> Manifest:
    manifest = serving()
    del manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailable"]
    return manifest


def test_a_number_that_was_not_written_is_not_kept_from_the_edit_where_it_is_taken_back_by_leaving_it_out() -> None:
    simulation = running(without_minimum())
    before = copy.deepcopy(simulation.world.get(SET, "demo"))
    simulation.edit(at(f"{FRONT}/spec/minAvailable", 1))
    simulation.settle()
    judge = Reviewer(simulation.operator.context, ObjectList(existing(simulation)))
    answer = judge.default(asked("UPDATE", before, simulation.world.get(SET, "demo")))["response"]
    defaults = {one["path"]: one["value"] for one in json.loads(base64.b64decode(answer["patch"]))}
    assert defaults["/spec/template/cliques/0/spec/minAvailable"] == 2


@pytest.mark.parametrize("name", NO_VALUES)
def test_webhooks_let_it_be_taken_back_beside_a_value_that_is_none(name: str) -> None:
    simulation = running(serving())
    before = copy.deepcopy(simulation.world.get(SET, "demo"))
    simulation.edit(IN_ORDER, NO_VALUES[name])
    simulation.settle()
    assert reviewed(simulation, before, simulation.world.get(SET, "demo"))["allowed"]


NONSENSE: list[Edit] = [at("spec", "x"), at("spec/template", []), at("spec/template/cliques", [1, {"name": []}]), at(f"{FRONT}/spec", 7)]


@pytest.mark.parametrize("number", range(len(NONSENSE)))
def test_an_old_state_that_is_none_ends_in_no_exception(number: int) -> None:
    simulation = running(serving())
    set = simulation.world.get(SET, "demo")
    nonsense = copy.deepcopy(set)
    NONSENSE[number](nonsense)
    assert errors(simulation, set, nonsense) == []
