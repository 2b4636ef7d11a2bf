"""Dry runs: what the server says would happen, and nothing happens."""

from __future__ import annotations

from applier.desired import DEFAULT_POLICY, Desired, Policy
from applier.errors import Cause, FieldConflict

from ..things import desired, manifest, ref
from .lab import ME, Lab

A = ref("a")
RECREATE = Policy(recreate=True)


def service(address: str, policy: Policy = DEFAULT_POLICY) -> Desired:
    return desired("a", "Service", spec={"clusterIP": address}, policy=policy)


SERVICE = ref("a", "Service")


async def test_a_dry_run_writes_nothing() -> None:
    lab = Lab()
    assert await lab.apply(desired("a"), dry_run=True) == "a=created"
    assert lab.cluster.find(A) is None


async def test_a_dry_run_tells_a_change_from_none() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}), desired("b", data={"x": "1"}))
    plan = lab.plan(desired("a", data={"x": "2"}), desired("b", data={"x": "2"}))
    lab.cluster.seed(manifest("b", data={"x": "2"}), manager=ME)
    plan.live[ref("b")] = lab.live(ref("b"))
    assert (await lab.execute_step(plan, desired("a", data={"x": "2"}), desired("b", data={"x": "1"}), dry_run=True)).startswith(
        "a=configured"
    )


async def test_a_dry_run_says_what_would_be_made_again() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    assert await lab.apply(service("2", policy=RECREATE), dry_run=True) == "a=recreated"
    assert lab.live(SERVICE)["spec"] == {"clusterIP": "1"}


async def test_a_dry_run_does_not_ask_for_what_cannot_exist_yet() -> None:
    lab = Lab()
    assert await lab.apply(desired("bar", "Namespace"), desired("a", namespace="bar"), dry_run=True) == "bar=created a=created"
    assert lab.reason(ref("a", namespace="bar")) == "not validated by the server: Namespace/bar does not exist yet"


async def test_a_dry_run_of_a_take_over_meets_no_conflict_with_those_taken_over() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="kubectl-client-side-apply")
    assert await lab.apply(desired("a", data={"x": "2"}), dry_run=True) == "a=configured"


async def test_a_dry_run_meets_no_conflict_with_a_plain_create_of_ours() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager=ME)
    assert await lab.apply(desired("a", data={"x": "2"}), dry_run=True) == "a=configured"


async def test_a_dry_run_meets_the_conflicts_that_a_run_would_meet() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    lab.cluster.fail("apply", FieldConflict(409, "Conflict", "", (Cause("FieldManagerConflict", ".data.x", 'conflict with "hpa"'),)))
    assert await lab.apply(desired("a", data={"x": "2"}), dry_run=True) == "a=held"
