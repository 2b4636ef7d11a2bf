"""One object written: when others write it meanwhile, when no answer comes, and when the refusal passes."""

from __future__ import annotations

import pytest

from applier.cluster import Resource
from applier.desired import DEFAULT_POLICY, Desired, Policy
from applier.errors import Cause, Forbidden, Invalid, UnknownKind, Unreachable, WriteConflict
from applier.ref import Kind

from ..things import definition, desired, manifest, ref
from .lab import ME, Lab

A = ref("a")
RECREATE, ONCE, OURS = Policy(recreate=True), Policy(create_only=True), Policy(adopt=False)
LOST = Unreachable("no answer came", maybe_done=True)


def service(address: str, policy: Policy = DEFAULT_POLICY) -> Desired:
    return desired("a", "Service", spec={"clusterIP": address}, policy=policy)


SERVICE = ref("a", "Service")


# Others write meanwhile.


async def test_an_object_that_vanishes_is_created() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    lab.meanwhile("apply", lambda: lab.cluster.store.remove(A))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=created"


async def test_an_object_that_was_deleted_and_made_again_is_decided_on_anew() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))

    def replace() -> None:
        lab.cluster.store.remove(A)
        lab.cluster.seed(manifest("a", data={"x": "2"}), manager=ME)

    lab.meanwhile("apply", replace)
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=configured"
    assert lab.requests() == "apply a, get a, patch a, apply a"


async def test_another_object_in_the_place_of_ours_is_not_called_invalid() -> None:
    """A real server refuses the other UID as a field that cannot be changed."""
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}, policy=RECREATE))
    immutable = Cause("FieldValueInvalid", "metadata.uid", "Invalid value: field is immutable")
    lab.cluster.fail("apply", Invalid(422, "Invalid", "metadata.uid: field is immutable", (immutable,)))
    assert await lab.apply(desired("a", data={"x": "2"}, policy=RECREATE)) == "a=configured"
    assert lab.requests() == "apply a, get a, apply a"


async def test_an_object_that_another_made_first_is_not_called_created() -> None:
    lab = Lab()
    lab.meanwhile("apply", lambda: lab.cluster.seed(manifest("a", data={"y": "1"}), manager="somebody"))
    assert await lab.apply(desired("a", data={"x": "1"})) == "a=configured"
    assert lab.reason(A) == "was created meanwhile by somebody"


async def test_an_object_that_another_run_of_ours_made_first_is_not_called_created_twice() -> None:
    lab = Lab()
    lab.meanwhile("apply", lambda: lab.cluster.seed(manifest("a", data={"x": "1"}), manager=ME))
    assert await lab.apply(desired("a", data={"x": "1"})) == "a=configured"
    assert lab.reason(A) == "was created meanwhile by another run of me"


async def test_a_write_conflict_is_settled_by_reading() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    lab.cluster.fail("apply", WriteConflict(409, "Conflict", "the object has been modified"))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=configured"
    assert lab.requests() == "apply a, get a, apply a"


async def test_write_conflicts_without_end_fail_the_object() -> None:
    lab = Lab()
    lab.cluster.fail("apply", WriteConflict(409, "Conflict", "the object has been modified"), times=-1)
    assert await lab.apply(desired("a")) == "a=failed"
    assert lab.reason(A) == "the object has been modified"


async def test_a_change_that_is_there_already_is_unchanged() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    plan = lab.plan(desired("a", data={"x": "2"}))
    await lab.apply(desired("a", data={"x": "2"}))
    plan.live[A] = lab.live(A)
    assert await lab.execute_step(plan, desired("a", data={"x": "2"})) == "a=unchanged"


# Answers that never come.


@pytest.mark.parametrize("policy", [Policy(), ONCE, OURS])
async def test_a_create_of_unknown_fate_that_was_done_counts_as_created(policy: Policy) -> None:
    lab = Lab()
    lab.cluster.fail(lambda request: request.writes, LOST, after=True)
    assert await lab.apply(desired("a", policy=policy)) == "a=created"


@pytest.mark.parametrize("policy", [Policy(), ONCE, OURS])
async def test_a_create_of_unknown_fate_that_was_not_done_is_done(policy: Policy) -> None:
    lab = Lab()
    lab.cluster.fail(lambda request: request.writes, LOST)
    assert await lab.apply(desired("a", policy=policy)) == "a=created"
    assert lab.cluster.find(A) is not None


async def test_a_change_of_unknown_fate_that_was_done_is_not_done_twice() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    lab.cluster.fail("apply", LOST, after=True)
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=configured"
    assert lab.requests() == "apply a, get a"


async def test_a_delete_of_unknown_fate_is_settled_by_waiting() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    lab.cluster.fail("delete", LOST, after=True)
    assert await lab.apply(service("2", policy=RECREATE)) == "a=recreated"


async def test_a_server_that_was_never_reached_fails_the_object() -> None:
    lab = Lab()
    lab.cluster.fail("apply", Unreachable("connection refused"))
    assert (await lab.apply(desired("a")), lab.requests()) == ("a=failed", "apply a")


# Namespaces.


async def test_an_object_in_a_namespace_that_goes_away_fails_in_one_line() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("shop", "Namespace", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}))
    assert await lab.apply(desired("a")) == "a=failed"
    assert "\n" not in lab.reason(A)


async def test_a_refusal_that_passes_is_tried_again() -> None:
    lab = Lab()
    waits = Forbidden(
        403, "Forbidden", 'pods "a" is forbidden: error looking up service account shop/default: serviceaccount "default" not found'
    )
    lab.cluster.fail("apply", waits, times=2)
    assert await lab.apply(desired("a", "Pod")) == "a=created"


@pytest.mark.parametrize(("defined", "said"), [(True, "created"), (False, "failed")])
async def test_a_kind_that_is_not_served_yet_is_tried_again_where_it_was_just_defined(defined: bool, said: str) -> None:
    lab = Lab()
    lab.cluster.serve(Resource(Kind("example.com", "v1", "Engine"), "engines", namespaced=True))
    lab.cluster.fail(lambda request: request.name == "e", UnknownKind("no such kind"))
    await lab.apply(*[definition()] * defined, desired("e", "Engine"))
    assert str(lab.outcomes[ref("e", "Engine")].action) == said


async def test_a_refusal_that_does_not_pass_is_not_tried_for_ever() -> None:
    lab = Lab()
    lab.cluster.fail("apply", Forbidden(403, "Forbidden", 'serviceaccount "default" not found'), times=-1)
    assert await lab.apply(desired("a", "Pod")) == "a=failed"
