"""Whatever goes wrong in a run, and wherever it is killed, the next run ends where this one was going."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from applier.desired import Desired, Graph, Policy
from applier.errors import ApplierError, Forbidden, Invalid, ServerFailure, Unreachable
from applier.outcome import Action
from applier.plan.order import order
from applier.ref import Manifest, Ref
from applier.testing.memory.faults import MemoryRequest

from ..things import desired, manifest, ref
from .lab import Lab

LOST = Unreachable("no answer came", maybe_done=True)
FAILURES: Sequence[ApplierError] = (
    Forbidden(403, "Forbidden", "admission refused it"),
    Invalid(422, "Invalid", "data.x: too long"),
    ServerFailure(500, "InternalError", "etcd is away"),
    Unreachable("connection refused"),
)


class Case(NamedTuple):
    """What is there, and what is wanted."""

    seeds: list[tuple[Manifest, str]]
    objects: list[Desired]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Config maps and services with edges to earlier ones; some are there already, made by us, by kubectl or by somebody else."""
    seeds, objects = [], list[Desired]()
    for number in range(draw(st.integers(1, 6))):
        name, kind = str(number), draw(st.sampled_from(["ConfigMap", "Service"]))
        field = {"ConfigMap": "data", "Service": "spec"}[kind]
        key = {"ConfigMap": "x", "Service": "clusterIP"}[kind]
        after = draw(st.lists(st.sampled_from(objects), max_size=2)) if objects else []
        owner = draw(st.sampled_from([None, *objects]))
        policy = Policy(recreate=True, force=("*",))
        fields: dict[str, Any] = {field: {key: "new"}}
        wanted = desired(name, kind, *(one.ref for one in after), owner=owner.ref if owner else None, policy=policy, **fields)
        objects.append(wanted)
        maker = draw(st.sampled_from(["", "me", "kubectl-client-side-apply", "somebody"]))
        if maker:
            value = draw(st.sampled_from(["new", "old"]))
            more = draw(st.sampled_from([{}, {"y": "stale"}]))
            fields = {field: {key: value, **more}}
            seeds.append((manifest(name, kind, **fields), maker))
    return Case(seeds, objects)


def lab_of(case: Case) -> Lab:
    lab = Lab()
    for seed, manager in case.seeds:
        lab.cluster.seed(seed, manager=manager)
    return lab


def is_as_wanted(lab: Lab, objects: Sequence[Desired]) -> bool:
    return all(_has(lab.live(one.ref), one) for one in objects)


def _has(live: Manifest, wanted: Desired) -> bool:
    field = "data" if wanted.ref.kind == "ConfigMap" else "spec"
    return all(live[field][key] == value for key, value in wanted.manifest[field].items())


def owners_are_right(lab: Lab, objects: Sequence[Desired]) -> bool:
    owned = [one for one in objects if one.owner is not None]
    uids = [lab.live(one.ref)["metadata"]["ownerReferences"][0]["uid"] for one in owned]
    return uids == [lab.live(one.owner)["metadata"]["uid"] for one in owned if one.owner]


def all_after(graph: Graph, failed: set[Ref]) -> set[Ref]:
    """What depends on these objects."""
    found: set[Ref] = set()
    for wave in order(graph).waves:
        for one in wave:
            if any(before in failed or before in found for before in graph.before(graph.objects[one])):
                found.add(one)
    return found - failed


class Killed(BaseException):
    """The program is gone."""


class Kill:
    """Kills the program at one of its writes: before the request is carried out, or after, and for all requests from then on."""

    def __init__(self, lab: Lab, number: int, *, after: bool) -> None:
        self.lab, self.left, self.after, self.dead = lab, number, after, False
        error: Any = Killed()
        lab.cluster.fail(self.is_dead, error, times=-1)
        lab.cluster.fail(self.dies, error, after=after)

    def is_dead(self, request: MemoryRequest) -> bool:
        return self.dead

    def dies(self, request: MemoryRequest) -> bool:
        if request.writes:
            self.left -= 1
            self.dead = self.dead or self.left < 0
        return self.dead


@given(cases(), st.data())
def test_a_run_after_failures_ends_where_one_without_ends(case: Case, data: st.DataObject) -> None:
    async def run() -> None:
        lab, graph = lab_of(case), Graph(case.objects)
        bad = {one.ref for one in case.objects if data.draw(st.booleans())}
        error = data.draw(st.sampled_from(FAILURES))
        lab.cluster.fail(lambda request: request.writes and request.ref in bad, error, times=-1)
        await lab.apply(*case.objects)
        failed = {ref for ref, outcome in lab.outcomes.items() if outcome.action is Action.FAILED}
        held = {ref for ref, outcome in lab.outcomes.items() if outcome.action is Action.HELD}
        assert failed <= bad
        assert held == all_after(graph, failed)
        lab.cluster.faults.clear()
        await settle(lab, case)

    asyncio.run(run())


@given(cases(), st.booleans())
def test_a_run_that_is_killed_at_any_write_is_finished_by_the_next(case: Case, after: bool) -> None:
    async def run(number: int) -> bool:
        lab = lab_of(case)
        kill = Kill(lab, number, after=after)
        with suppress(Killed):
            await lab.apply(*case.objects)
        lab.cluster.faults.clear()
        await settle(lab, case)
        return kill.dead

    number = 0
    while asyncio.run(run(number)):
        number += 1
        assert number < 50


@given(cases(), st.integers(0, 12), st.booleans())
def test_a_request_of_unknown_fate_is_settled_within_the_run(case: Case, number: int, after: bool) -> None:
    async def run() -> None:
        lab = lab_of(case)
        lab.cluster.fail(number, LOST, after=after)
        await lab.apply(*case.objects)
        assert is_as_wanted(lab, case.objects)

    asyncio.run(run())


async def settle(lab: Lab, case: Case) -> None:
    """The next run makes everything so, and the one after that has nothing to do."""
    await lab.apply(*case.objects)
    assert is_as_wanted(lab, case.objects)
    assert owners_are_right(lab, case.objects)
    again = await lab.apply(*case.objects)
    assert ({word.partition("=")[2] for word in again.split()}, lab.requests()) == ({"unchanged"}, "")


def test_what_a_test_needs_is_there() -> None:
    assert _has(manifest("a", data={"x": "new", "z": "1"}), desired("a", data={"x": "new"}))
    assert all_after(Graph([desired("a"), desired("b", "ConfigMap", ref("a"))]), {ref("a")}) == {ref("b")}
