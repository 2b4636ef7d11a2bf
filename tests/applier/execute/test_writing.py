"""One object written: over what is there, again, by others meanwhile, and with an answer that never comes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from applier.desired import Policy
from applier.errors import Forbidden, Invalid, Unreachable, WriteConflict
from applier.ref import uid_of
from applier.testing.memory_faults import Request

from ..plan.things import desired, manifest, ref
from .lab import ME, Lab

A = ref("a")
RECREATE, ONCE, OURS = Policy(recreate=True), Policy(create_only=True), Policy(adopt=False)
LOST = Unreachable("no answer came", maybe_done=True)


def meanwhile(lab: Lab, verb: str, deed: Callable[[], object]) -> None:
    """Does something right before the next request of a verb, once."""

    async def before(request: Request) -> None:
        if request.verb == verb and not done:
            done.append(request)
            deed()

    done: list[Request] = []
    lab.cluster.before = before


# Owners.


async def test_the_uid_of_an_owner_is_filled_in_once_the_owner_is_made() -> None:
    lab = Lab()
    await lab.apply(desired("child", owner=A), desired("a"))
    assert lab.live(ref("child"))["metadata"]["ownerReferences"][0]["uid"] == uid_of(lab.live(A))


async def test_an_owner_outside_the_graph_is_read() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a"))
    await lab.apply(desired("child", owner=A))
    assert lab.requests() == "get a, apply child"


async def test_an_owner_outside_the_graph_is_read_once() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a"))
    await lab.apply(desired("child", owner=A), desired("other", "ConfigMap", ref("child"), owner=A))
    assert lab.requests() == "get a, apply child, apply other"


async def test_an_object_whose_owner_is_missing_is_held() -> None:
    lab = Lab()
    assert await lab.apply(desired("child", owner=A)) == "child=held"
    assert lab.reason(ref("child")) == "its owner ConfigMap/shop/a does not exist"


async def test_an_owner_that_is_made_again_gives_its_new_uid() -> None:
    lab = Lab()
    objects = [desired("a", "Service", spec={"clusterIP": "1"}, policy=RECREATE), desired("child", owner=ref("a", "Service"))]
    await lab.apply(*objects)
    objects[0] = desired("a", "Service", spec={"clusterIP": "2"}, policy=RECREATE)
    await lab.apply(*objects)
    assert lab.live(ref("child"))["metadata"]["ownerReferences"][0]["uid"] == uid_of(lab.live(ref("a", "Service")))


# Fields that cannot be changed.


def service(address: str, **options: Policy):  # type: ignore[no-untyped-def]
    return desired("a", "Service", spec={"clusterIP": address}, **options)


SERVICE = ref("a", "Service")


async def test_an_object_with_a_fixed_field_is_made_again_where_that_is_allowed() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    before = uid_of(lab.live(SERVICE))
    assert await lab.apply(service("2", policy=RECREATE)) == "a=recreated"
    assert lab.live(SERVICE)["spec"] == {"clusterIP": "2"}
    assert uid_of(lab.live(SERVICE)) != before


async def test_the_server_has_to_refuse_before_anything_is_deleted() -> None:
    """The table of fixed fields is only a forecast."""
    lab = Lab(immutable={})
    await lab.apply(service("1"))
    assert await lab.apply(service("2", policy=RECREATE)) == "a=configured"
    assert lab.requests() == "apply a"


async def test_a_fixed_field_holds_the_object_where_making_it_again_is_not_allowed() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    assert (await lab.apply(service("2")), lab.requests()) == ("a=held", "")
    assert lab.reason(SERVICE) == (
        "spec.clusterIP cannot be changed once set; it would have to be deleted and made again, which its policy does not allow (recreate)"
    )


async def test_a_fixed_field_that_only_the_server_knows_holds_the_object_too() -> None:
    lab = Lab(immutable={"ConfigMap": ("/data/x",)})
    await lab.apply(desired("a", data={"x": "1"}))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=held"
    assert "which its policy does not allow (recreate)" in lab.reason(A)


async def test_an_object_that_is_invalid_in_other_ways_too_is_not_deleted() -> None:
    lab = Lab(immutable={"ConfigMap": ("/data/x",)})
    await lab.apply(desired("a", data={"x": "1"}))
    refusal = Invalid(422, "Invalid", "data.x: field is immutable; data.y: too long")
    lab.cluster.fail("apply", Invalid(422, "Invalid", refusal.message, (cause("field is immutable"), cause("must be short"))))
    assert await lab.apply(desired("a", data={"x": "2"}, policy=RECREATE)) == "a=failed"
    assert lab.requests() == "apply a"


def cause(message: str):  # type: ignore[no-untyped-def]
    from applier.errors import Cause

    return Cause("FieldValueInvalid", "data", message)


async def test_an_old_object_that_does_not_go_holds_the_new_one_and_names_its_finalizers() -> None:
    lab = Lab()
    await lab.apply(desired("a", "Service", spec={"clusterIP": "1"}, metadata={"finalizers": ["example.com/wait"]}))
    assert await lab.apply(service("2", policy=RECREATE)) == "a=held"
    assert "held by example.com/wait" in lab.reason(SERVICE)


async def test_the_next_run_makes_the_object_once_the_old_one_is_gone() -> None:
    lab = Lab()
    await lab.apply(desired("a", "Service", spec={"clusterIP": "1"}, metadata={"finalizers": ["example.com/wait"]}))
    await lab.apply(service("2", policy=RECREATE))
    lab.cluster.store.remove(SERVICE)
    assert await lab.apply(service("2", policy=RECREATE)) == "a=created"


async def test_an_object_that_is_being_deleted_is_made_again_once_it_is_gone() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/wait"]}))
    meanwhile(lab, "get", lambda: lab.cluster.store.remove(A))
    assert await lab.apply(desired("a")) == "a=created"


async def test_an_object_that_somebody_else_makes_again_first_is_decided_on_anew() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    again = manifest("a", "Service", spec={"clusterIP": "2"})
    meanwhile(lab, "get", lambda: lab.cluster.seed(again, manager="somebody"))
    assert await lab.apply(service("2", policy=RECREATE)) == "a=configured"


# Others write meanwhile.


async def test_an_object_that_vanishes_is_created() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    meanwhile(lab, "apply", lambda: lab.cluster.store.remove(A))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=created"


async def test_an_object_that_was_deleted_and_made_again_is_decided_on_anew() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))

    def replace() -> None:
        lab.cluster.store.remove(A)
        lab.cluster.seed(manifest("a", data={"x": "2"}), manager=ME)

    meanwhile(lab, "apply", replace)
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=configured"
    assert lab.requests() == "apply a, get a, patch a, apply a"


async def test_an_object_that_another_made_first_is_not_called_created() -> None:
    lab = Lab()
    meanwhile(lab, "apply", lambda: lab.cluster.seed(manifest("a", data={"y": "1"}), manager="somebody"))
    assert await lab.apply(desired("a", data={"x": "1"})) == "a=configured"
    assert lab.reason(A) == "was made meanwhile by somebody"


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
    plan.found[A] = lab.live(A)
    assert await lab.carry_out(plan, desired("a", data={"x": "2"})) == "a=unchanged"


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


# Who may be overruled, and who is taken over.


async def test_a_conflict_holds_the_object_and_names_the_ways_out() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa")
    assert (await lab.apply(desired("a", data={"x": "2"})), lab.requests()) == ("a=held", "")
    assert "hpa" in lab.reason(A)
    assert "take it (force), give it up (remove it from the manifest), or share it (use the same value)" in lab.reason(A)


async def test_a_conflict_that_only_the_server_sees_is_told_in_its_words() -> None:
    lab = Lab()
    meanwhile(lab, "apply", lambda: lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa"))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=held"
    assert lab.outcomes[A].step.conflicts[0].path == ("data", "x") or lab.outcomes[A].step.conflicts[0].path == ("data.x",)


@pytest.mark.parametrize("force", [("*",), ("hpa",)])
async def test_a_field_is_taken_where_that_is_allowed(force: tuple[str, ...]) -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa")
    assert await lab.apply(desired("a", data={"x": "2"}), force=force) == "a=configured"
    assert lab.live(A)["data"] == {"x": "2"}


async def test_the_policy_of_an_object_may_allow_it_too() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa")
    assert await lab.apply(desired("a", data={"x": "2"}, policy=Policy(force=("hpa",)))) == "a=configured"


async def test_client_side_apply_is_taken_over_so_that_fields_can_go() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1", "y": "1"}), manager="kubectl-client-side-apply")
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=configured"
    assert lab.live(A)["data"] == {"x": "2"}


async def test_taking_over_is_a_change_even_when_every_value_is_right() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="kubectl-client-side-apply")
    assert await lab.apply(desired("a", data={"x": "1"})) == "a=configured"
    assert [entry["manager"] for entry in lab.live(A)["metadata"]["managedFields"]] == [ME]


async def test_nothing_is_taken_over_twice() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="kubectl-client-side-apply")
    await lab.apply(desired("a", data={"x": "1"}))
    assert (await lab.apply(desired("a", data={"x": "1"})), lab.requests()) == ("a=unchanged", "")


async def test_another_manager_is_taken_over_by_name() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1", "y": "1"}), manager="helm")
    assert await lab.apply(desired("a", data={"x": "2"}), take_over=("helm",)) == "a=configured"
    assert lab.live(A)["data"] == {"x": "2"}


async def test_an_object_that_changes_while_it_is_taken_over_is_read_again() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="kubectl-client-side-apply")
    meanwhile(lab, "patch", lambda: lab.cluster.seed(manifest("a", data={"x": "1", "z": "1"}), manager="somebody"))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=configured"


# Policies.


async def test_an_object_of_somebody_else_is_held_where_it_may_not_be_adopted() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="somebody")
    assert await lab.apply(desired("a", policy=OURS, data={"x": "1"})) == "a=held"
    assert lab.reason(A) == "exists, made by somebody, and its policy does not allow to take it over (adopt)"


async def test_an_object_that_somebody_makes_in_between_is_not_adopted_either() -> None:
    lab = Lab()
    meanwhile(lab, "create", lambda: lab.cluster.seed(manifest("a", data={"x": "1"}), manager="somebody"))
    assert await lab.apply(desired("a", policy=OURS, data={"x": "2"})) == "a=held"


async def test_an_object_of_somebody_else_that_is_as_we_want_it_is_no_problem() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="somebody")
    assert await lab.apply(desired("a", policy=OURS)) == "a=unchanged"


async def test_our_own_object_is_kept_up_although_it_may_not_be_adopted() -> None:
    lab = Lab()
    await lab.apply(desired("a", policy=OURS, data={"x": "1"}))
    assert await lab.apply(desired("a", policy=OURS, data={"x": "2"})) == "a=configured"


async def test_an_object_that_is_only_created_is_left_alone_and_its_difference_said() -> None:
    lab = Lab()
    await lab.apply(desired("a", policy=ONCE, data={"x": "1"}))
    assert await lab.apply(desired("a", policy=ONCE, data={"x": "2"})) == "a=unchanged"
    assert lab.reason(A) == "is only ever created; differs in data.x"


async def test_a_yielded_field_is_left_to_whoever_owns_it() -> None:
    lab = Lab()
    yields = Policy(yields=("/spec/replicas",))
    await lab.apply(desired("a", "Deployment", spec={"replicas": 1}, policy=yields))
    lab.cluster.seed(manifest("a", "Deployment", spec={"replicas": 5}), manager="hpa")
    await lab.apply(desired("a", "Deployment", spec={"replicas": 1, "paused": True}, policy=yields))
    assert lab.live(ref("a", "Deployment"))["spec"] == {"replicas": 5, "paused": True}


async def test_a_yielded_field_that_nobody_else_owns_keeps_its_value() -> None:
    lab = Lab()
    yields = Policy(yields=("/spec/replicas",))
    await lab.apply(desired("a", "Deployment", spec={"replicas": 3}, policy=yields))
    await lab.apply(desired("a", "Deployment", spec={"replicas": 1, "paused": True}, policy=yields))
    assert lab.live(ref("a", "Deployment"))["spec"] == {"replicas": 3, "paused": True}


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


async def test_a_refusal_that_does_not_pass_is_not_tried_for_ever() -> None:
    lab = Lab()
    lab.cluster.fail("apply", Forbidden(403, "Forbidden", 'serviceaccount "default" not found'), times=-1)
    assert await lab.apply(desired("a", "Pod")) == "a=failed"


# Dry runs.


async def test_a_dry_run_writes_nothing() -> None:
    lab = Lab()
    assert await lab.apply(desired("a"), dry_run=True) == "a=created"
    assert lab.cluster.find(A) is None


async def test_a_dry_run_tells_a_change_from_none() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}), desired("b", data={"x": "1"}))
    plan = lab.plan(desired("a", data={"x": "2"}), desired("b", data={"x": "2"}))
    lab.cluster.seed(manifest("b", data={"x": "2"}), manager=ME)
    plan.found[ref("b")] = lab.live(ref("b"))
    assert (await lab.carry_out(plan, desired("a", data={"x": "2"}), desired("b", data={"x": "1"}), dry_run=True)).startswith(
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
    assert lab.reason(ref("a", namespace="bar")) == "not asked of the server: Namespace/bar does not exist yet"


async def test_a_dry_run_of_a_take_over_meets_no_conflict_with_those_taken_over() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="kubectl-client-side-apply")
    assert await lab.apply(desired("a", data={"x": "2"}), dry_run=True) == "a=configured"
