"""Whatever happens in whatever order: nothing that must not happen does, and all ends as if it had been so from the start."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

import pytest

from applier.ref import Manifest, Ref
from grove_compiler.labels import GROUP_LABEL, MANAGED_BY, MEMBER_LABEL
from grove_compiler.model.expanded.group_roll import SIZE_VARIABLE
from tests.simulation.admission import REFUSED
from tests.simulation.drawn import DECLARED, edited_schedule, forged_schedule, refused_schedule, resized_schedule, schedule
from tests.simulation.labels import label
from tests.simulation.schedules import (
    MAX_BACKOFF,
    Action,
    Ask,
    Autoscale,
    CutOff,
    Die,
    Drain,
    Edit,
    Forge,
    GoDown,
    Late,
    Lose,
    MakeAnew,
    Meddle,
    Night,
    Pass,
    Pause,
    Proceed,
    Quota,
    Resize,
    Scale,
    Slow,
    Tick,
    declared_metadata,
    play,
)
from tests.simulation.sets import DEC, FRONT, NAME, PRE, demo, equipped, replicas
from tests.simulation.shapes import Shapes, shapes
from tests.simulation.simulation import Simulation, running
from tests.simulation.telling import telling
from tests.simulation.watch import assert_all_ready, assert_no_orphan, watched
from tests.simulation.world import CLIQUE, GROUP, NAMESPACE, SERVICE, SET
from tests.suite.effort import runs

DELAY = "10m0s"
"""The terminationDelay: shorter than a night."""


@cache
def _afresh(declared: str) -> Shapes:
    """Returns what becomes of what is declared in a world where it is declared from the start. Many schedules end with the same."""
    set, *parts = json.loads(declared)
    fresh = Simulation()
    fresh.world.apply(set)
    fresh.settle()
    for kind, replicas_by_name in zip((GROUP, CLIQUE), parts, strict=True):
        for name, number in replicas_by_name.items():
            fresh.edit(replicas(number), kind=kind, name=name)
        fresh.settle()  # a group with another number of replicas has other PodCliques
    fresh.wait(MAX_BACKOFF)  # what has waited for a while is told of, as it was in the other world
    fresh.close()
    return shapes(fresh)


def afresh(simulation: Simulation) -> Shapes:
    """Returns what a world would have come to in which what is declared here in the end was declared from the start."""
    live = simulation.world.get(SET, NAME)
    set = {**live, "status": {}, "metadata": declared_metadata(live)}
    parts = [{one["metadata"]["name"]: one["spec"]["replicas"] for one in simulation.world.all(kind)} for kind in (GROUP, CLIQUE)]
    return _afresh(json.dumps([set, *parts]))


def play_and_compare(simulation: Simulation, schedule: Sequence[Action]) -> None:
    """Plays a schedule, and compares the end with that of a world in which nothing went wrong.

    A Service from which somebody has taken our label is not seen any more, and stays until its set goes, where nobody wants it again.
    """
    [foreign] = simulation.world.cluster.seed(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"{NAME}-9", "namespace": NAMESPACE}}
    )
    play(watched(simulation), schedule, assert_told_alike if not any(map(may_tell_otherwise, schedule)) else lambda _: None)
    assert simulation.world.cluster.find(Ref.of(foreign)) == foreign, "what is not ours was touched"
    for one in simulation.world.all(SERVICE):
        if not label(one, MANAGED_BY):
            simulation.world.delete(SERVICE, one["metadata"]["name"])
    assert_all_ready(simulation)
    assert_no_orphan(simulation)
    assert simulation.images() == ({"last"} if simulation.world.pods() else set())
    assert_sizes(simulation)
    assert shapes(simulation) == afresh(simulation)
    simulation.close()


def assert_sizes(simulation: Simulation) -> None:
    """Checks that each PodClique of the scaling group, which nobody scales, has as many pods as are declared in the end."""
    cliques = {one["name"]: one["spec"]["replicas"] for one in simulation.world.get(SET, NAME)["spec"]["template"]["cliques"]}
    live = [one for one in simulation.world.all(CLIQUE) if label(one, GROUP_LABEL)]
    assert {(one["metadata"]["name"], one["spec"]["replicas"]) for one in live} == {
        (one["metadata"]["name"], cliques[one["spec"]["roleName"]]) for one in live
    }


def may_tell_otherwise(action: Action) -> bool:
    """Whether pods of one replica may know of two sizes: where people replace pods, or delete the PodClique that held the old one.

    An update that waits elsewhere comes to the rest of that replica in its turn.
    """
    return isinstance(action, Pause) or (isinstance(action, Meddle) and action.kind == "clique" and not action.takes_label)


def assert_told_alike(simulation: Simulation) -> None:
    """Checks that the pods of each replica of the scaling group know of one size of it."""
    told: dict[tuple[str, str], set[str]] = {}
    for pod in simulation.world.pods():
        if group := label(pod, GROUP_LABEL):
            variables = pod["spec"]["containers"][0]["env"]
            told.setdefault((group, label(pod, MEMBER_LABEL)), set()).update(
                one["value"] for one in variables if one["name"] == SIZE_VARIABLE
            )
    assert {member: sizes for member, sizes in told.items() if len(sizes) > 1} == {}


def demo_set() -> Manifest:
    return demo(replicas=2, terminationDelay=DELAY)


@pytest.mark.parametrize("number", telling(schedule, runs(12)))
def test_any_schedule_ends_as_a_fresh_apply_does(number: int) -> None:
    play_and_compare(running(demo_set()), schedule(number))


@pytest.mark.parametrize("number", telling(edited_schedule, runs(3), first=2000))
def test_any_schedule_ends_so_with_domains_claims_autoscalers_and_kai(number: int) -> None:
    play_and_compare(running(equipped(terminationDelay=DELAY)), edited_schedule(number))


@pytest.mark.parametrize("number", telling(resized_schedule, runs(3)))
def test_any_schedule_ends_so_where_sizes_of_cliques_are_declared_anew(number: int) -> None:
    play_and_compare(running(demo_set()), resized_schedule(number))


@pytest.mark.parametrize("number", telling(schedule, runs(6)))
def test_any_schedule_ends_so_with_two_operators_of_which_one_leads(number: int) -> None:
    play_and_compare(running(demo_set(), candidates=2), schedule(number))


@pytest.mark.parametrize("number", telling(refused_schedule, runs(7)))
def test_any_schedule_ends_so_where_pods_are_refused_delayed_and_added_to(number: int) -> None:
    play_and_compare(running(demo_set()), refused_schedule(number))


def demanding_set() -> Manifest:
    """A set of which two pods of the front clique, and two replicas of the group, have to start together: it can be scaled below that."""
    manifest = demo(replicas=2, front=3, terminationDelay=DELAY)
    manifest["spec"]["template"]["cliques"][FRONT]["spec"]["minAvailable"] = 2
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = 2
    return manifest


@pytest.mark.parametrize("number", telling(refused_schedule, runs(6), first=1000))
def test_any_schedule_ends_so_where_more_than_one_of_each_is_needed(number: int) -> None:
    play_and_compare(running(demanding_set()), refused_schedule(number))


@pytest.mark.parametrize("number", range(runs(7)))
def test_any_schedule_ends_so_where_edits_cannot_work(number: int) -> None:
    play_and_compare(running(demanding_set() if number % 2 else demo_set()), edited_schedule(number))


@pytest.mark.parametrize("number", telling(forged_schedule, runs(3)))
def test_any_schedule_ends_so_where_edits_are_held(number: int) -> None:
    play_and_compare(running(demanding_set() if number % 2 else demo_set()), forged_schedule(number))


FOUND: dict[str, list[Action]] = {
    "a gang is terminated by what is known of pods that are gone": [
        *(CutOff(22), Lose(4), Quota(-3), Scale("set", 1), Night(), CutOff(29), Drain(0), Tick(), Pass(10))
    ],
    "an operator dies in an update while pods are told late": [
        *(Edit("second", ()), Pass(3), Tick(), Edit("third", (0,)), Late("Pod", 20), Pass(1), Die(3), Pass(1))
    ],
    "a PodClique of a set that was made anew has lost our label": [MakeAnew(5), Meddle("clique", 29, takes_label=True)],
    "a Service of a set that was made anew has lost it, and is looked for": [
        *(CutOff(34), Slow(5), MakeAnew(5), Meddle("service", 3, takes_label=True))
    ],
    "a PodClique is deleted during an update that waits for room": [
        *(Edit("nowhere", (1,)), Pass(8), Meddle("clique", 19, takes_label=False))
    ],
    "a pod is lost while the server is away, and kinds are read again one after the other": [
        *(Edit(REFUSED, (0, 1)), Pass(18), GoDown(20), Edit(DECLARED, (0, 1)), Lose(1))
    ],
    "pods that go are wanted again while another one is created slowly": [
        *(Autoscale("clique", 0), Ask(8), Lose(6), Pass(24), Autoscale("clique", 2))
    ],
    "a clique of a group is resized twice, with other images, before another one of it is edited": [
        *(Resize(PRE, 3, ""), Edit("third", (PRE,)), Pass(12), Resize(PRE, 4, "second"), Pass(20), Edit("second", (DEC,)))
    ],
    "an update has begun to replace a replica of a group, and another clique of the edit is refused": [
        *(Forge("topology"), Resize(DEC, 3, ""), Proceed(5), Proceed(4), Pass(24), Proceed(6), Edit("broken", (PRE,))),
        *(Proceed(6), Proceed(6), Pass(15), Edit(REFUSED, (FRONT,)), Proceed(6)),
    ],
}
"""Schedules that have gone wrong, of the program or of what looks at it."""


def test_a_clique_that_is_scaled_below_what_its_gang_needs_keeps_no_scaled_gang_gated() -> None:
    play_and_compare(running(demanding_set()), [Scale("clique", 1)])


@pytest.mark.parametrize("schedule", FOUND.values(), ids=FOUND.keys())
def test_a_schedule_that_went_wrong_once_ends_so(schedule: list[Action]) -> None:
    play_and_compare(running(demo_set()), schedule)


def test_a_leader_that_is_cut_off_in_an_update_and_another_that_dies_in_the_next_end_so() -> None:
    unlucky: list[Action] = [Edit("second", ()), Slow(5), Pass(3), CutOff(30), Pass(200), Tick(), Tick(), Edit("third", (0,)), Die(3, 1)]
    play_and_compare(running(demo_set(), candidates=2), [*unlucky, Pass(30)])
