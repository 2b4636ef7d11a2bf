"""Who may be overruled, who is taken over, and what is left alone."""

from __future__ import annotations

import pytest

from applier.desired import Policy
from applier.errors import Cause, FieldConflict

from ..things import desired, manifest, ref
from .lab import ME, Lab

A = ref("a")
ONCE, OURS = Policy(create_only=True), Policy(adopt=False)


# Who may be overruled, and who is taken over.


async def test_a_conflict_holds_the_object_and_names_the_ways_out() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa")
    assert (await lab.apply(desired("a", data={"x": "2"})), lab.requests()) == ("a=held", "")
    assert "hpa" in lab.reason(A)
    assert "take it (force), drop it (remove it from the manifest), or share it (use the same value)" in lab.reason(A)


async def test_a_conflict_that_only_the_server_sees_is_told_in_its_words() -> None:
    lab = Lab()
    lab.meanwhile("apply", lambda: lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa"))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=held"
    assert lab.outcomes[A].step.conflicts[0].path == ("data", "x") or lab.outcomes[A].step.conflicts[0].path == ("data.x",)


@pytest.mark.parametrize("force", [("*",), ("hpa",)])
async def test_a_field_is_taken_where_that_is_allowed(force: tuple[str, ...]) -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa")
    assert await lab.apply(desired("a", data={"x": "2"}), force=force) == "a=configured"
    assert lab.live(A)["data"] == {"x": "2"}


async def test_a_field_that_may_be_taken_is_taken_at_the_first_request() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa")
    await lab.apply(desired("a", data={"x": "2"}), force=("hpa",))
    assert lab.requests() == "apply a"


async def test_who_may_be_overruled_does_not_open_the_object_to_who_writes_meanwhile() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="hpa")
    lab.meanwhile("apply", lambda: lab.cluster.seed(manifest("a", data={"x": "3"}), manager="flux"))
    assert await lab.apply(desired("a", data={"x": "2"}), force=("hpa",)) == "a=held"
    assert lab.live(A)["data"] == {"x": "3"}


async def test_who_takes_a_field_while_it_is_written_is_not_overruled() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    lab.meanwhile("apply", lambda: lab.cluster.seed(manifest("a", data={"x": "3"}), manager="hpa"))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=held"
    assert lab.live(A)["data"] == {"x": "3"}


@pytest.mark.parametrize(
    ("force", "said"),
    [((), "held"), (("hpa",), "held"), (("helm",), "held"), (("hpa", "helm"), "configured"), (("*",), "configured")],
)
async def test_all_whom_the_server_names_have_to_be_among_those_who_may_be_overruled(force: tuple[str, ...], said: str) -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    causes = [Cause("FieldManagerConflict", ".data.x", f'conflict with "{manager}"') for manager in ("hpa", "helm")]
    lab.cluster.fail("apply", FieldConflict(409, "Conflict", "", tuple(causes)))
    assert await lab.apply(desired("a", data={"x": "2"}), force=force) == f"a={said}"


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
    lab.meanwhile("patch", lambda: lab.cluster.seed(manifest("a", data={"x": "1", "z": "1"}), manager="somebody"))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=configured"


# Policies.


async def test_an_object_of_somebody_else_is_held_where_it_may_not_be_adopted() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="somebody")
    assert await lab.apply(desired("a", policy=OURS, data={"x": "1"})) == "a=held"
    assert lab.reason(A) == "exists, created by somebody, and is left unchanged (policy adopt)"


async def test_an_object_that_somebody_makes_in_between_is_not_adopted_either() -> None:
    lab = Lab()
    lab.meanwhile("apply", lambda: lab.cluster.seed(manifest("a", data={"x": "1"}), manager="somebody"))
    assert await lab.apply(desired("a", policy=OURS, data={"y": "2"})) == "a=held"
    assert (lab.live(A)["data"], lab.requests()) == ({"x": "1"}, "apply a, get a")


async def test_an_object_that_may_not_be_adopted_is_made_by_one_request() -> None:
    lab = Lab()
    assert await lab.apply(desired("a", policy=OURS, data={"x": "1"})) == "a=created"
    assert lab.requests() == "apply a"


async def test_what_somebody_makes_in_between_and_deletes_again_is_waited_for() -> None:
    lab = Lab()

    def make_and_delete() -> None:
        lab.cluster.seed(manifest("a", metadata={"finalizers": ["example.com/keep"]}), manager="somebody")
        lab.cluster.seed(manifest("a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), manager="somebody")

    lab.meanwhile("apply", make_and_delete)
    assert await lab.apply(desired("a", policy=OURS, data={"x": "1"})) == "a=held"
    assert "has been terminating" in lab.reason(A)
    assert "data" not in lab.live(A)


async def test_an_object_of_somebody_else_that_is_as_we_want_it_is_no_problem() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"x": "1"}), manager="somebody")
    assert await lab.apply(desired("a", policy=OURS)) == "a=unchanged"


async def test_our_own_object_is_kept_up_although_it_may_not_be_adopted() -> None:
    lab = Lab()
    await lab.apply(desired("a", policy=OURS, data={"x": "1"}))
    assert await lab.apply(desired("a", policy=OURS, data={"x": "2"})) == "a=configured"


async def test_an_object_that_may_not_be_adopted_is_ours_once_it_is_made() -> None:
    lab = Lab()
    await lab.apply(desired("a", policy=OURS, data={"x": "1"}))
    assert (await lab.apply(desired("a", policy=OURS, data={"x": "1"})), lab.requests()) == ("a=unchanged", "")


async def test_an_object_that_is_only_created_is_left_alone_and_its_difference_said() -> None:
    lab = Lab()
    await lab.apply(desired("a", policy=ONCE, data={"x": "1"}))
    assert await lab.apply(desired("a", policy=ONCE, data={"x": "2"})) == "a=unchanged"
    assert lab.reason(A) == "is only created, never changed; differs in data.x"


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


# What follows the graph in objects that are only ever created.

GATE = Policy(create_only=True, follows=("/spec/schedulingGates/ours",))
GATED = {"schedulingGates": [{"name": "ours"}, {"name": "theirs"}], "nodeName": ""}


async def test_a_gate_is_taken_off_a_pod_by_a_patch_and_all_else_is_left() -> None:
    lab = Lab()
    await lab.apply(desired("a", "Pod", spec=GATED, policy=GATE))
    assert await lab.apply(desired("a", "Pod", spec={"other": 1}, policy=GATE)) == "a=configured"
    assert (lab.requests(), lab.live(ref("a", "Pod"))["spec"]) == ("patch a", {"schedulingGates": [{"name": "theirs"}], "nodeName": ""})


async def test_a_gate_that_has_moved_meanwhile_is_looked_for_again() -> None:
    lab = Lab()
    await lab.apply(desired("a", "Pod", spec=GATED, policy=GATE))
    swapped = {**GATED, "schedulingGates": GATED["schedulingGates"][::-1]}
    lab.meanwhile("patch", lambda: lab.cluster.seed({**lab.live(ref("a", "Pod")), "spec": swapped}))
    assert await lab.apply(desired("a", "Pod", spec={}, policy=GATE)) == "a=configured"
    assert (lab.requests(), lab.live(ref("a", "Pod"))["spec"]["schedulingGates"]) == ("patch a, get a, patch a", [{"name": "theirs"}])


async def test_a_part_takes_nothing_with_it_of_the_rest_that_the_same_program_has_applied() -> None:
    lab, part = Lab(), desired("a", data={"y": "2"}, policy=Policy(part=True))
    await lab.apply(desired("a", data={"x": "1"}))
    assert (await lab.apply(part), lab.live(A)["data"]) == ("a=configured", {"x": "1", "y": "2"})
    assert await lab.apply(part) == "a=unchanged"
    assert (await lab.apply(desired("a", data={"x": "3"})), lab.live(A)["data"]) == ("a=configured", {"x": "3", "y": "2"})
    assert (await lab.apply(desired("a", data={"y": "3"}, policy=Policy(part=True))), lab.live(A)["data"]) == (
        "a=configured",
        {"x": "3", "y": "3"},
    )


async def test_a_part_of_what_is_not_there_is_created_as_such() -> None:
    lab = Lab()
    assert await lab.apply(desired("a", data={"y": "2"}, policy=Policy(part=True))) == "a=created"
    assert await lab.apply(desired("a", data={"x": "1"})) == "a=configured"
    assert lab.live(A)["data"] == {"x": "1", "y": "2"}


async def test_a_part_that_was_created_as_such_is_nobody_elses() -> None:
    lab, policy = Lab(), Policy(part=True, adopt=False)
    assert await lab.apply(desired("a", data={"y": "2"}, policy=policy)) == "a=created"
    assert (await lab.apply(desired("a", data={"y": "3"}, policy=policy)), lab.live(A)["data"]) == ("a=configured", {"y": "3"})


async def test_a_part_that_was_once_applied_under_the_name_of_all_is_changed_all_the_same() -> None:
    """By a release before this one."""
    lab = Lab()
    await lab.apply(desired("a", data={"y": "1"}))
    assert (await lab.apply(desired("a", data={"y": "2"}, policy=Policy(part=True))), lab.live(A)["data"]) == ("a=configured", {"y": "2"})


async def test_a_part_takes_nothing_from_others() -> None:
    lab = Lab()
    lab.cluster.seed(manifest("a", data={"y": "1"}), manager="hpa")
    assert await lab.apply(desired("a", data={"y": "2"}, policy=Policy(part=True))) == "a=held"
