"""Objects that are made again: for a field that cannot change, for a new owner, because the old one goes away."""

from __future__ import annotations

from applier.desired import DEFAULT_POLICY, Desired, Policy
from applier.errors import Cause, Invalid, Unreachable, WriteConflict
from applier.execute.options import Timeouts
from applier.ref import uid_of
from applier.stop import Stop

from ..things import desired, manifest, ref
from .lab import Lab

A = ref("a")
RECREATE = Policy(recreate=True)
LOST = Unreachable("no answer came", maybe_done=True)


def service(address: str, policy: Policy = DEFAULT_POLICY) -> Desired:
    return desired("a", "Service", spec={"clusterIP": address}, policy=policy)


SERVICE = ref("a", "Service")


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
        "spec.clusterIP cannot be changed once set; it would have to be recreated, which its policy does not allow (recreate)"
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
    lab.cluster.fail(
        "apply", Invalid(422, "Invalid", refusal.message, (Cause("", "data.x", "field is immutable"), Cause("", "data.y", "must be short")))
    )
    assert await lab.apply(desired("a", data={"x": "2"}, policy=RECREATE)) == "a=failed"
    assert lab.requests() == "apply a"


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
    lab.meanwhile("get", lambda: lab.cluster.store.remove(A))
    assert await lab.apply(desired("a")) == "a=created"


async def test_an_object_that_somebody_else_makes_again_first_is_decided_on_anew() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    again = manifest("a", "Service", spec={"clusterIP": "2"})
    lab.meanwhile("get", lambda: lab.cluster.seed(again, manager="somebody"))
    assert await lab.apply(service("2", policy=RECREATE)) == "a=configured"


async def test_a_delete_that_surely_was_not_done_is_not_repeated() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    lab.cluster.fail("delete", Unreachable("no connection", maybe_done=False), times=-1)
    assert await lab.apply(service("2", policy=RECREATE)) == "a=failed"
    assert lab.requests().count("delete a") == 1


async def test_a_delete_that_is_lost_every_time_fails_in_the_end() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    lab.cluster.fail("delete", LOST, times=-1)
    assert await lab.apply(service("2", policy=RECREATE)) == "a=failed"
    assert lab.live(SERVICE)["spec"] == {"clusterIP": "1"}


async def test_a_delete_that_is_lost_is_not_repeated_while_the_object_goes() -> None:
    lab = Lab()
    await lab.apply(desired("a", "Service", spec={"clusterIP": "1"}, metadata={"finalizers": ["example.com/wait"]}))
    lab.cluster.fail("delete", LOST, after=True)
    assert await lab.apply(service("2", policy=RECREATE)) == "a=held"
    assert lab.requests().count("delete a") == 1


async def test_a_delete_that_is_lost_does_not_hit_what_others_made_since() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    lab.cluster.fail("delete", LOST, after=True)
    lab.meanwhile("get", lambda: lab.cluster.seed(manifest("a", "Service", spec={"clusterIP": "2"}), manager="somebody"))
    assert await lab.apply(service("2", policy=RECREATE)) == "a=configured"
    assert lab.requests().count("delete a") == 1


async def test_an_object_that_nobody_deletes_is_said_to_be_there_still() -> None:
    lab = Lab()
    await lab.apply(service("1"))
    lab.cluster.fail("delete", WriteConflict(409, "Conflict", "no"), times=-1)
    assert await lab.apply(service("2", policy=RECREATE)) == "a=held"
    assert lab.reason(SERVICE).endswith("could not be deleted within 0.05 s")


async def test_what_we_deleted_is_made_again_although_the_run_is_stopped_meanwhile() -> None:
    lab, stop = Lab(), Stop()
    await lab.apply(service("1"))
    lab.meanwhile("delete", stop.cancel)
    assert await lab.apply(service("2", policy=RECREATE), stop=stop) == "a=recreated"


async def test_what_others_deleted_is_not_waited_for_once_the_run_is_stopped() -> None:
    lab, stop = Lab(), Stop()
    lab.cluster.seed(manifest("a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/wait"]}))
    lab.meanwhile("get", stop.cancel)
    assert await lab.apply(desired("a"), stop=stop, timeouts=Timeouts(first=10)) == "a=held"
    assert lab.reason(A) == "not done: the run was stopped before"
