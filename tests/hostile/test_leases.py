"""Somebody edits or deletes the lease, or clocks are apart: one leads, and soon."""

from __future__ import annotations

from typing import Any

import pytest

from applier.loop.lease import LAST_TRANSITION, MAX_DURATION
from applier.ref import Kind, Manifest
from grove_compiler.kube.conditions import STALLED, condition_of
from tests.hostile.world import serving, two_sets
from tests.simulation.operator import TIMING, Operator
from tests.simulation.sets import replicas
from tests.simulation.simulation import Simulation
from tests.simulation.world import SET
from tests.suite.effort import runs

LEASE = Kind("coordination.k8s.io", "v1", "Lease")
MINUTE = 60.0
FAR_AWAY = "2999-01-01T00:00:00.000000Z"
NONSENSE: dict[str, dict[str, Any]] = {
    "a stranger holds it for ever": {"holderIdentity": "stranger", "leaseDurationSeconds": 2**31 - 1},
    "it has changed hands too often": {"holderIdentity": "stranger", "leaseTransitions": LAST_TRANSITION},
    "a stranger holds it for garbage": {"holderIdentity": "stranger", "leaseDurationSeconds": "long"},
    "it was renewed in a thousand years": {"holderIdentity": "stranger", "renewTime": FAR_AWAY, "acquireTime": FAR_AWAY},
    "nobody holds it": {"holderIdentity": ""},
    "a stranger holds it": {"holderIdentity": "stranger"},
    "it has no holder": {"holderIdentity": None},
    "a stranger holds it for less than no time": {"holderIdentity": "stranger", "leaseDurationSeconds": -15},
    "it was renewed at no time": {"holderIdentity": "stranger", "renewTime": "yesterday"},
    "it has changed hands garbage": {"holderIdentity": "stranger", "leaseTransitions": "often"},
}


def elected() -> Simulation:
    """Two candidates, of which one leads."""
    simulation = two_sets(candidates=2)
    simulation.let_pass(TIMING.duration)
    return simulation


def leaders(simulation: Simulation) -> list[Operator]:
    return [one for one in simulation.operators if one.leads]


def edit(simulation: Simulation, spec: dict[str, Any]) -> None:
    lease = simulation.world.get(LEASE, "leader")
    simulation.world.put({**lease, "spec": {**lease["spec"], **spec}})


def stalled_since(one: Manifest) -> str:
    """Since when an object is stalled; empty for one that is not."""
    return str(condition_of(one, STALLED).get("lastTransitionTime") or "")


def assert_one_leads_within(simulation: Simulation, seconds: float) -> None:
    """And goes on with what is to be done, and keeps leading."""
    for _ in range(int(seconds)):
        simulation.let_pass(1)
        if len(leaders(simulation)) == 1:
            break
    [leader] = leaders(simulation)
    simulation.edit(replicas(2))
    simulation.settle()
    assert len(serving(simulation)) == 3 * 8
    simulation.let_pass(TIMING.duration)
    assert leaders(simulation) == [leader]


TRIED = dict(list(NONSENSE.items())[: runs(5)])


@pytest.mark.parametrize("spec", TRIED.values(), ids=TRIED.keys())
def test_one_leads_again_soon_whatever_the_lease_says(spec: dict[str, Any]) -> None:
    simulation = elected()
    edit(simulation, spec)
    simulation.let_pass(2 * TIMING.retry)  # whoever has led has seen it
    longest = MAX_DURATION if spec.get("leaseDurationSeconds") == 2**31 - 1 else TIMING.duration
    assert_one_leads_within(simulation, longest + 3 * TIMING.retry)


def test_a_lease_that_is_deleted_again_and_again_is_made_again() -> None:
    simulation = elected()
    for _ in range(5):
        simulation.world.delete(LEASE, "leader")
        simulation.let_pass(2 * TIMING.retry)
        assert len(leaders(simulation)) == 1
    assert_one_leads_within(simulation, 1)


@pytest.mark.parametrize("minutes", [-5, 5])
def test_clocks_that_are_minutes_apart_matter_to_nobody(minutes: int) -> None:
    simulation = elected()
    pods = serving(simulation)
    [old] = leaders(simulation)
    [new] = [one for one in simulation.operators if one is not old]
    new.clock_offset = minutes * MINUTE
    old.connection.cut_until = simulation.loop.time() + 10 * MINUTE
    simulation.let_pass(TIMING.duration + 3 * TIMING.retry)
    assert leaders(simulation) == [new]
    assert_one_leads_within(simulation, 1)
    assert pods.items() <= serving(simulation).items()


@pytest.mark.parametrize("is_mended", [True, False], ids=["and others have mended", "and has come since"])
def test_who_leads_again_says_nothing_of_what_it_knew_when_it_led_last(is_mended: bool) -> None:
    """Pods are refused under one of the two leaders, and the first one leads again: it goes by what is so now."""
    simulation = elected()
    [old] = leaders(simulation)
    simulation.edit(replicas(2))
    simulation.admission.quota = 16 if is_mended else 1000
    simulation.settle()
    simulation.let_pass(MINUTE)
    old.connection.cut_until = simulation.loop.time() + 2 * TIMING.duration
    simulation.let_pass(2 * TIMING.duration)
    [new] = leaders(simulation)
    assert new is not old
    simulation.admission.quota = 1000 if is_mended else 24
    simulation.edit(replicas(3))
    simulation.wait(2 * MINUTE)
    before, began = stalled_since(simulation.world.get(SET, "demo")), simulation.world.version
    assert (before == "") is is_mended
    new.connection.cut_until = simulation.loop.time() + 10 * MINUTE
    simulation.let_pass(2 * TIMING.duration)
    assert leaders(simulation) == [old]
    simulation.edit(replicas(4))
    simulation.settle()
    versions = [one for ref, _, one in simulation.world.changes_since(began) if (ref.kind, ref.name) == (SET.kind, "demo") and one]
    assert {stalled_since(one) for one in versions} == {before}
