"""An edit that is held can be taken back: with files, and where webhooks are there again (decisions §10)."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from applier.ref import Manifest
from grove_cli.serve.scene import SceneObjects, draw_scene
from grove_compiler.compile import Inputs, lint
from grove_compiler.graph.diagnostic import Diagnostic, errors_of
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_operator.webhooks.effects import EffectsPreview
from grove_operator.webhooks.review import Reviewer
from tests.cli.cluster.in_memory import Bench
from tests.cli.running import Ended, run
from tests.features.compiling import shipped_program
from tests.simulation.sets import equipped, image, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready
from tests.simulation.world import SET
from tests.updates.test_immutable import CASES, FRONT, Edit, at, everything, reviewed, serving, stalled
from tests.updates.test_last_valid_spec import IN_ORDER, NO_VALUES, lose, ready
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


def test_webhooks_that_write_a_number_let_it_be_taken_back_that_its_clique_was_renamed() -> None:
    simulation = running(without_minimum())
    before = copy.deepcopy(simulation.world.get(SET, "demo"))
    simulation.edit(at(f"{FRONT}/name", "other"))
    simulation.settle()
    at(f"{FRONT}/spec/minAvailable", 2)(before)
    assert reviewed(simulation, before, simulation.world.get(SET, "demo"))["allowed"]


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


def edited() -> tuple[Simulation, Manifest, Manifest]:
    """A set of which an edit is held, as it was before, and with what is wrong in the edit taken back."""
    simulation = running(serving())
    before = copy.deepcopy(simulation.world.get(SET, "demo"))
    simulation.edit(IN_ORDER, image("new"))
    simulation.settle()
    mended = copy.deepcopy(simulation.world.get(SET, "demo"))
    at("spec/template/cliqueStartupType", None)(mended)
    return simulation, before, mended


def test_warnings_tell_the_effects_beside_what_the_set_still_runs() -> None:
    simulation, before, mended = edited()
    held, context, view = simulation.world.get(SET, "demo"), simulation.operator.context, ObjectList(existing(simulation))

    def told(new: Manifest) -> str:
        return "\n".join(EffectsPreview().lines(held, new, view, context, context.settings))

    assert told(before) == ""
    assert "pods: 8 restarted" in told(mended)
    assert told({**held, "metadata": {**held["metadata"], "labels": {"team": "a"}}}) == "", "it takes no effect"


def test_impact_is_told_beside_what_the_set_still_runs(tmp_path: Path) -> None:
    simulation, before, mended = edited()
    names = {"now": {"apiVersion": "v1", "kind": "List", "items": existing(simulation)}, "before": before, "mended": mended}
    for name, value in {**names, "held": simulation.world.get(SET, "demo")}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))

    def told(new: str) -> Ended:
        return run("impact", str(tmp_path / "held.json"), str(tmp_path / f"{new}.json"), "--snapshot", str(tmp_path / "now.json"))

    assert (told("before").code, told("before").out, told("before").err) == (0, "Nothing changes.\n", "")
    assert (told("mended").code, "changed     5: 5 PodClique" in told("mended").out) == (1, True), "with revisions in the snapshot"
    assert told("held").code == 2
    alone = run("impact", str(tmp_path / "held.json"), str(tmp_path / "before.json"))
    assert "an edit of this set is held" in alone.err, "without a snapshot nobody knows what it runs"
    assert "an edit of this set is held" not in told("before").err


def test_a_plan_tells_what_the_operator_makes_of_it_beside_what_the_set_still_runs(tmp_path: Path) -> None:
    simulation, before, mended = edited()
    simulation.close()
    bench = Bench(tmp_path, simulation.world.cluster)

    def told(new: Manifest) -> str:
        wanted = {**new, "metadata": {"name": "demo", "namespace": "default"}, "status": {}}
        return bench.run("plan", "--force-conflicts", bench.file(wanted)).out

    assert "Effects: nothing" in told(before)
    assert "Effects: 5 configured" in told(mended)


def test_the_page_shows_what_the_set_still_runs() -> None:
    simulation, *_ = edited()
    simulation.edit(replicas(0))
    simulation.settle()
    scene = draw_scene(SceneObjects(existing(simulation)), simulation.operator.context)
    assert {row[2] for row in scene.rows if scene.graph["nodes"][row[0]][0] == "PodClique"} == {"ready"}
    assert any("the last valid spec stays in effect" in text for _, text in scene.notes)


@pytest.mark.parametrize("writes", [1, 3, 6])
def test_a_replica_that_was_being_scaled_in_goes_once_the_edit_is_taken_back(writes: int) -> None:
    """No status counted it any more, nor did any spec declare it: nobody looked at it again."""
    simulation = running({**serving(), "spec": {**serving()["spec"], "replicas": 2}})
    valid: list[Manifest] = []

    def edit_in_between(_: str) -> None:
        if len(valid) == 1 and simulation.operator.writes == began + writes:
            valid.append({})
            simulation.edit(IN_ORDER)

    began = simulation.operator.writes
    simulation.operator.after_write = edit_in_between
    simulation.edit(replicas(1))
    valid.append(simulation.world.get(SET, "demo")["spec"])
    simulation.settle()
    assert stalled(simulation)
    simulation.world.apply({**simulation.world.get(SET, "demo"), "spec": valid[0]})
    simulation.settle()
    assert (stalled(simulation), simulation.world.pods("demo-1")) == ("", [])
    assert_all_ready(simulation)


QUEUES: dict[str, Edit] = {
    "another queue": at("metadata/labels", {"kai.scheduler/queue": "other"}),
    "no queue": at("metadata/labels", {}),
}


@pytest.mark.parametrize("name", QUEUES)
def test_of_labels_in_the_edit_nothing_takes_effect_either(name: str) -> None:
    simulation = running(equipped())
    set, before, pods = copy.deepcopy(simulation.world.get(SET, "demo")), everything(simulation), len(simulation.world.pods())
    simulation.edit(QUEUES[name], IN_ORDER)
    simulation.settle()
    assert stalled(simulation)
    assert everything(simulation) == before
    lose(simulation, "demo-0-front")
    assert ready(simulation) == pods
    now = simulation.world.get(SET, "demo")
    back = {**now["metadata"], **{key: set["metadata"].get(key, {}) for key in ("labels", "annotations")}}
    simulation.world.apply({**now, "metadata": back, "spec": set["spec"]})
    simulation.settle()
    assert (stalled(simulation), ready(simulation)) == ("", pods)
