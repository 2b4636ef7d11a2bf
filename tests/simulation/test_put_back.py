"""Faults that took down what served, put back on purpose: the simulation finds each, by a schedule of a few events.

`python -m tests.benchmarks.put_back` looks for such schedules at random, and shrinks them; these are what it came to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from applier.ref import Manifest
from grove_cli.rulebook import read as read_rulebook
from grove_compiler import step
from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource
from grove_compiler.model.expanded import clique_roll, gates, group_roll, reported_breach, rolls
from grove_compiler.model.expanded.live_object import old_status
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.subjects import VOCABULARY
from tests.invariants.check import Verdict, check
from tests.invariants.simulated_log import SimulatedLog
from tests.simulation import drawn
from tests.simulation.admission import REFUSED
from tests.simulation.drawn import DECLARED, STARTUPS
from tests.simulation.schedules import Action, Edit, Forge, Lose, Night, Pass, Pause, Proceed, Resume, Scale, Tick, play
from tests.simulation.sets import FRONT, demo
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import watched
from tests.simulation.world import is_ready
from tests.step.world import context

Patch = Callable[[pytest.MonkeyPatch], None]
MAX_EVENTS = 10


class Fault(NamedTuple):
    """A fault: what brings it back into program and rules, a schedule that shows it, where such are drawn, and the set that it needs."""

    patch: Patch
    rules: Callable[[str], str]
    schedule: list[Action]
    draw: Callable[[int], list[Action]] = drawn.schedule
    set: Callable[[], Manifest] = lambda: demo(replicas=1, front=3, terminationDelay="10m0s")

    def program(self) -> Program:
        sources = [RuleSource(one.file, self.rules(one.text), one.origin) for one in read_rulebook().sources()]
        return build(sources, VOCABULARY)


def goes_on(patch: pytest.MonkeyPatch) -> None:
    """What waits for room counts as what can never serve, also where this very roll has made it (grove #697, #741, #785, #840)."""
    patch.setattr(rolls.Roll, "possible", property(lambda roll: roll.desired - roll.unplaced))


def breach_goes_on(patch: pytest.MonkeyPatch) -> None:
    """The clock of a breach runs on while less is declared than is needed (grove #676)."""
    patch.setattr(reported_breach, "COMES_BACK", ())


def ends_early(patch: pytest.MonkeyPatch) -> None:
    """An update is over once what is needed serves, with replacements that are not ready (grove #676)."""
    patch.setattr(clique_roll.CliqueRoll, "is_over", property(_serves_what_it_needs))


def _serves_what_it_needs(roll: clique_roll.CliqueRoll) -> bool:
    return not roll._is_behind and roll.roll.serving >= min(roll.roll.min_available, roll.roll.desired)


def goes_on_unmade(patch: pytest.MonkeyPatch) -> None:
    """What serves is all that can, also where the server refuses the pods that a roll has taken others for."""
    patch.setattr(rolls.Roll, "possible", property(lambda roll: roll.serving))


def restarts_again(patch: pytest.MonkeyPatch) -> None:
    """An update takes each pod that was made before it began, also one that has its template since an edit is taken back."""
    patch.setattr(LivePod, "has_current_template", property(_is_current_and_of_the_update))


def _is_current_and_of_the_update(pod: LivePod) -> bool:
    progress = old_status(pod.clique).get("updateProgress") or {}
    made, began = pod.manifest["metadata"]["creationTimestamp"], progress.get("updateStartedAt") or ""
    is_of_before = made < began and not progress.get("updateEndedAt")
    return pod.template_hash == pod.clique.pod_template_hash and not is_of_before


def forgets_what_it_was(patch: pytest.MonkeyPatch) -> None:
    """What cannot change is held by admission alone, which may be off."""
    patch.setattr(step, "before_the_edit", lambda *_: None)


def takes_the_last(patch: pytest.MonkeyPatch) -> None:
    """An update takes what serves as long as it is enough, also where none would be left."""
    patch.setattr(rolls.Roll, "needed", property(lambda roll: min(roll.min_available, roll.desired)))


def forgets_in_a_pause(patch: pytest.MonkeyPatch) -> None:
    """What an update has taken last is forgotten once people replace pods, so that the next one takes another."""
    for roll in (clique_roll.CliqueRoll, group_roll.GroupRoll):
        patch.setattr(roll, "keeps_selection", property(_is_selected_and_not_over))


def _is_selected_and_not_over(roll: clique_roll.CliqueRoll | group_roll.GroupRoll) -> bool:
    return not roll.is_over and roll.selection.current is not None


def awaits_what_is_not_declared(patch: pytest.MonkeyPatch) -> None:
    """A scaled gang, and the update of a group, wait for `minAvailable` pods of a clique that is scaled below that."""
    patch.setattr(gates, "needed_of", lambda needed, clique: needed)
    patch.setattr(group_roll, "_is_scaled_in", lambda member: False)


def nothing(patch: pytest.MonkeyPatch) -> None:
    """What is wrong is in the rules alone."""


def without_comeback(text: str) -> str:
    """The rules without the cases that tell what is scaled in, or out again, from what has lost its pods."""
    return _without_cases(text, reported_breach.COMES_BACK)


def without_updates_by_hand(text: str) -> str:
    """The rules without the cases that tell what lacks pods of an edit from what has lost its pods."""
    return _without_cases(text, reported_breach.UPDATING[1:])


def _without_cases(text: str, reasons: Collection[str]) -> str:
    kept, skips = [], False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.startswith("  - "):
            case = "".join(lines[number : number + 4])
            skips = line.startswith("  - when:") and any(f"reason: {reason}\n" in case for reason in reasons)
        skips = skips and line.startswith("  ")
        if not skips:
            kept.append(line)
    return "".join(kept)


def unchanged(text: str) -> str:
    return text


FAULTS = {
    "a roll goes on though its new pods fit nowhere": Fault(
        goes_on, unchanged, [Edit("nowhere", (0,)), Pass(30), Tick(), Pass(30), Tick(), Pass(30)]
    ),
    "a roll goes on though the server refuses its new pods": Fault(
        goes_on_unmade, unchanged, [Edit(REFUSED, (0,)), Pass(30), Tick(), Pass(30), Tick(), Pass(30)], drawn.refused_schedule
    ),
    "an edit that is taken back restarts what had stayed": Fault(
        restarts_again,
        unchanged,
        [Edit(REFUSED, (0,)), Pass(30), Edit(DECLARED, (0,)), Pass(30), Tick(), Tick(), Tick(), Pass(30)],
        drawn.edited_schedule,
    ),
    "a lost pod comes back with what was changed behind admission's back": Fault(
        forgets_what_it_was, unchanged, [Forge(STARTUPS[0]), Pass(30), Lose(4), Tick(), Pass(30)], drawn.edited_schedule
    ),
    "an update ends though its last pod is not ready": Fault(ends_early, unchanged, [Edit("second", (0,)), Pass(30), Tick()]),
    "a clique that is scaled out again is restarted for its night at zero": Fault(
        breach_goes_on,
        without_comeback,
        [Scale("clique", 0), Pass(30), Tick(), Night(), Scale("clique", 2), Pass(30)],
        drawn.edited_schedule,
    ),
    "a group that is scaled out again restarts what served": Fault(
        breach_goes_on,
        without_comeback,
        [Scale("group", 0), Pass(30), Tick(), Night(), Scale("group", 2), Pass(30)],
        drawn.edited_schedule,
    ),
    "an update takes the last pod that serves": Fault(
        takes_the_last, unchanged, [Lose(0), Lose(0), Edit("nowhere", (0,)), Proceed(3)], drawn.edited_schedule
    ),
    "an update that is paused and resumed takes one more": Fault(
        forgets_in_a_pause, unchanged, [Edit("nowhere", (0,)), Proceed(3), Pause(), Proceed(1), Resume(), Proceed(3)], drawn.edited_schedule
    ),
    "an edit by hand that cannot work restarts what serves": Fault(
        nothing, without_updates_by_hand, [Pause(), Edit("nowhere", ()), Lose(4), Proceed(2), Night()], drawn.edited_schedule
    ),
}
"""Those that take down what serves: audit logs show them, too."""


def demanding() -> Manifest:
    """A set of which two pods of the front clique are needed: it can be scaled below that."""
    manifest = demo(replicas=1, front=3, terminationDelay="10m0s")
    manifest["spec"]["template"]["cliques"][FRONT]["spec"]["minAvailable"] = 2
    return manifest


STUCK = {
    "a scaled gang waits for pods that are not declared": Fault(
        awaits_what_is_not_declared, unchanged, [Scale("clique", 1)], drawn.edited_schedule, demanding
    ),
}
"""Those for which something never runs."""
ALL = {**FAULTS, **STUCK}


def world(fault: Fault, program: Program | None = None) -> Simulation:
    """The set of a fault, which runs, with this program from now on."""
    simulation = running(fault.set())
    simulation.operator.restart(context(program=program))
    return watched(simulation)


def play_to_the_end(simulation: Simulation, events: Sequence[Action]) -> None:
    """Plays a schedule. Raises `AssertionError` where something is wrong, also where a pod does not run in the end."""
    play(simulation, events)
    waiting = [pod["metadata"]["name"] for pod in simulation.world.pods() if not is_ready(pod)]
    assert not waiting, f"{waiting} never run"


FOUND = r"was deleted for a breach|an update takes|ends its update|only one of them waits for others|never run"


@pytest.mark.parametrize("name", ALL)
def test_a_fault_that_is_put_back_is_found_by_a_few_events(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the simulation, and by whoever reads what an API server would have logged."""
    fault = ALL[name]
    assert len(fault.schedule) < MAX_EVENTS
    program = fault.program()
    fault.patch(monkeypatch)
    faulty = world(fault, program)
    log = SimulatedLog(faulty)
    with pytest.raises(AssertionError, match=FOUND):
        play_to_the_end(faulty, fault.schedule)
    assert bool(judged(log, tmp_path).faults) == (name in FAULTS)


@pytest.mark.parametrize("fault", ALL.values(), ids=ALL.keys())
def test_nothing_is_found_without_the_fault(fault: Fault, tmp_path: Path) -> None:
    fine = world(fault)
    log = SimulatedLog(fine)
    play_to_the_end(fine, fault.schedule)
    assert judged(log, tmp_path).faults == []


def judged(log: SimulatedLog, folder: Path) -> Verdict:
    return check(log.write(folder / "audit.log"), lag=1.0)
