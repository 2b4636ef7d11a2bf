"""Plans that are kept, and what makes them void."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.desired import AwaitedGroup, Desired, Graph, Policy
from applier.outcome import ABSENT, Action, Conflict, FieldChange, ItemKey, Owner, Step
from applier.plan import InvalidPlan, Plan, SavedPlan, check, fingerprint, input_hash, load, save
from applier.plan.order import order
from applier.plan.planner import Intent
from applier.plan.saved import desired_form, read_desired, read_step, step_form
from applier.ref import Manifest, Ref
from tests.suite.rows import rows

from ..things import desired, manifest, ref

A = ref("a")


class Snapshot(dict[Ref, Manifest]):
    """What is live; a kind in `unread` was not looked at."""

    def get(self, ref: Ref, default: Any = None) -> Any:
        if ref.kind == "Unread":
            raise KeyError(ref)
        return super().get(ref, default)


def live(version: str = "1", uid: str = "u", **fields: Any) -> Manifest:
    metadata = {"uid": uid, "resourceVersion": version, **fields.pop("metadata", {})}
    return manifest("a", metadata=metadata, **fields)


def plan_of(*steps: Step, found: Manifest | None = None) -> Plan:
    return Plan(list(steps), Intent("me", ("x",), ("y",)), live={A: found} if found else {})


def saved(action: Action = Action.CONFIGURED, found: Manifest | None = None, *objects: Desired) -> SavedPlan:
    """A plan for one object, saved and loaded."""
    metadata = found["metadata"] if found else {"uid": "", "resourceVersion": ""}
    step = Step(A, action, uid=metadata["uid"], resource_version=metadata["resourceVersion"])
    return load(save(plan_of(step, found=found), Graph(objects or [desired("a")])))


def test_a_plan_comes_back_as_it_was() -> None:
    step = Step(A, Action.CONFIGURED, "why", uid="u", resource_version="1", wave=3, unsure=True)
    graph = Graph([desired("n", "Namespace"), desired("a", namespace="n"), desired("b", "ConfigMap", ref("a", namespace="n"))])
    back = load(save(plan_of(step), graph)).plan
    assert [step_form(one) for one in back.steps] == [step_form(step)]
    assert (back.intent.manager, back.intent.force, back.intent.take_over) == ("me", ("x",), ("y",))
    assert (back.hard_dependencies, back.soft_dependencies) == order(graph)[1:]
    assert back.hard_dependencies and back.soft_dependencies


def test_the_same_plan_is_the_same_bytes() -> None:
    assert save(plan_of(Step(A, Action.CREATED)), Graph([desired("a")])) == save(plan_of(Step(A, Action.CREATED)), Graph([desired("a")]))


POLICY = Policy(create_only=True, adopt=False, recreate=True, yields=("/a",), force=("x",))


def test_an_object_comes_back_with_all_that_is_asked_of_it() -> None:
    given = Desired(manifest("a", data={"x": "1"}), owner=ref("o"), after=[ref("b")], policy=POLICY, source="rule x")
    back = read_desired(json.loads(json.dumps(desired_form(given))))
    assert desired_form(back) == desired_form(given)
    assert (back.policy.yields, back.owner, back.after, back.ref) == (("/a",), ref("o"), [ref("b")], A)


def test_what_waits_for_a_group_waits_for_each_of_it_in_a_saved_plan() -> None:
    given = Desired(manifest("a"), after=[ref("b")], groups=[AwaitedGroup([ref("c"), ref("d")])])
    assert read_desired(json.loads(json.dumps(desired_form(given)))).after == [ref("b"), ref("c"), ref("d")]


OWNER = Owner("hpa", "Update", "t", "scale")
paths = st.lists(st.text(max_size=3) | st.integers(0, 9) | st.builds(lambda name: ItemKey((("name", name),)), st.text(max_size=3))).map(
    tuple
)
values = st.one_of(st.just(ABSENT), st.none(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
changes = st.builds(FieldChange, paths, values, values, st.sampled_from([(), (OWNER,)]))


@given(st.lists(changes, max_size=3), st.lists(paths, max_size=2))
def test_every_change_and_conflict_comes_back(changed: list[FieldChange], conflicting: list[Any]) -> None:
    step = Step(A, Action.HELD, changes=changed, conflicts=[Conflict(path, OWNER) for path in conflicting])
    back = read_step(json.loads(json.dumps(step_form(step))))
    assert (back.changes, back.conflicts) == (step.changes, step.conflicts)


# What makes it void.


def reasons(plan: SavedPlan, now: Manifest | None) -> list[str]:
    return check(plan, Snapshot({A: now} if now else {}))


def test_a_plan_holds_while_nothing_has_changed() -> None:
    assert reasons(saved(found=live()), live()) == []


def test_a_plan_to_create_holds_while_there_is_nothing() -> None:
    assert reasons(saved(Action.CREATED), None) == []


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        (None, live(), "exists now"),
        (live(), None, "is gone"),
        (live(), live(uid="v"), "was deleted and recreated"),
        (live(), live("2", data={"x": "1"}), "has changed"),
        (live(), live("2", metadata={"labels": {"a": "b"}}), "has changed"),
    ],
)
def test_a_plan_that_was_overtaken_does_not(before: Manifest | None, now: Manifest | None, reason: str) -> None:
    assert reasons(saved(found=before), now) == [f"ConfigMap/shop/a {reason}"]


STATUS = {"manager": "kubelet", "operation": "Update", "subresource": "status", "fieldsV1": {}}


@pytest.mark.parametrize("now", [live("2", status={"ready": 1}), live("2", metadata={"managedFields": [STATUS]})])
def test_a_status_that_moves_on_makes_nothing_void(now: Manifest) -> None:
    assert reasons(saved(found=live()), now) == []


def test_another_owner_of_a_field_makes_it_void() -> None:
    entry = {"manager": "somebody", "operation": "Apply", "fieldsV1": {"f:data": {}}}
    assert reasons(saved(found=live()), live("2", metadata={"managedFields": [entry]})) == ["ConfigMap/shop/a has changed"]


def test_any_change_of_a_secret_makes_it_void() -> None:
    """Its values are not known, so that only the same version is the same."""
    before, now = (manifest("s", "Secret", metadata={"uid": "u", "resourceVersion": version}) for version in ("1", "2"))
    step = Step(Ref.of(before), Action.CONFIGURED, uid="u", resource_version="1")
    plan = load(save(Plan([step], Intent("me"), live={step.ref: before}), Graph([secret("x")])))
    assert fingerprint(before) == ""
    assert check(plan, Snapshot({step.ref: before})) == []
    assert check(plan, Snapshot({step.ref: now})) == ["Secret/shop/s has changed"]


def test_every_reason_is_told_at_once() -> None:
    steps = [Step(ref(name), Action.CONFIGURED, uid="u", resource_version="1") for name in "abc"]
    plan = load(save(plan_of(*steps), Graph([desired(name) for name in "abc"])))
    assert len(check(plan, Snapshot())) == 3


def test_what_failed_in_the_plan_is_not_looked_at() -> None:
    assert reasons(saved(Action.FAILED), live()) == []


def test_what_was_not_read_counts_as_gone() -> None:
    plan = load(save(plan_of(Step(ref("a"), Action.CONFIGURED, uid="u")), Graph([desired("a")])))
    assert check(plan, Snapshot()) == ["ConfigMap/shop/a is gone"]


def test_what_is_pruned_is_not_looked_at_here_and_no_part_of_what_is_written() -> None:
    steps = [Step(ref("a"), Action.UNCHANGED), Step(ref("b"), Action.PRUNED, uid="u")]
    plan = load(save(plan_of(*steps), Graph([desired("a")])))
    assert (check(plan, Snapshot()), [step.ref.name for step in plan.plan.writes(plan.graph).steps]) == ([], ["a"])
    assert [step.ref.name for step in plan.prunes()] == ["b"]


def test_what_is_said_of_a_set_is_kept_and_survives_the_input() -> None:
    graph = Graph([desired("a")])
    plan = load(save(plan_of(), graph, {"prune": True}))
    assert (plan.applyset, plan.with_input(graph).applyset) == ({"prune": True}, {"prune": True})


def test_what_is_found_is_noted_for_carrying_it_out() -> None:
    plan = saved(found=live())
    now = live()
    check(plan, Snapshot({A: now}))
    assert plan.plan.live == {A: now}


# The input.


def secret(value: str) -> Desired:
    return desired("s", "Secret", stringData={"password": value})


def test_no_value_of_a_secret_is_in_a_plan() -> None:
    step = Step(ref("s", "Secret"), Action.CREATED)
    assert b"swordfish" not in save(plan_of(step), Graph([secret("swordfish")]))


def test_secrets_that_are_written_lack_their_values() -> None:
    step = Step(ref("s", "Secret"), Action.CREATED)
    assert load(save(plan_of(step), Graph([secret("swordfish")]))).lacks_values() == [ref("s", "Secret")]


def test_secrets_that_are_not_written_lack_nothing() -> None:
    step = Step(ref("s", "Secret"), Action.UNCHANGED, uid="u")
    assert load(save(plan_of(step), Graph([secret("swordfish")]))).lacks_values() == []


def test_what_is_written_and_holds_no_secret_values_lacks_nothing() -> None:
    assert saved(Action.CREATED).lacks_values() == []


def test_the_same_input_gives_the_values_back() -> None:
    graph = Graph([secret("swordfish")])
    plan = load(save(plan_of(Step(ref("s", "Secret"), Action.CREATED)), graph)).with_input(Graph([secret("swordfish")]))
    assert (plan.lacks_values(), plan.graph.objects[ref("s", "Secret")].manifest["stringData"]) == ([], {"password": "swordfish"})


@pytest.mark.parametrize("other", [[secret("other")], [secret("swordfish"), desired("a")], [desired("s", "Secret")]])
def test_another_input_is_refused(other: list[Desired]) -> None:
    plan = load(save(plan_of(Step(ref("s", "Secret"), Action.CREATED)), Graph([secret("swordfish")])))
    with pytest.raises(InvalidPlan, match="created from a different input"):
        plan.with_input(Graph(other))


def test_the_hash_of_an_input_does_not_depend_on_the_order_of_keys() -> None:
    one, two = desired("a", data={"x": "1", "y": "2"}), desired("a", data={"y": "2", "x": "1"})
    assert input_hash(Graph([one])) == input_hash(Graph([two]))


BROKEN = [
    (b"", "not a saved plan"),
    (b"[" * 100_000, "not a saved plan"),
    (b'{"version": 2, "set": ' + b"[" * 900 + b"]" * 900 + b"}", "not a complete saved plan"),
    (b"[]", "a saved plan of version None"),
    (b'{"version": 9}', "version 9; this program reads version 2"),
    (b'{"version": 2}', "not a complete saved plan"),
    (b'{"version": 2, "intent": 3}', "not a complete saved plan"),
]


@rows(("data", "message"), BROKEN)
def test_a_file_that_is_no_plan_is_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(InvalidPlan, match=message):
        load(data)


@pytest.mark.parametrize(
    ("part", "edited"), [(b'"x":"1"', b'"x":"2"'), (b'"manager":"me"', b'"manager":"us"'), (b'"created"', b'"failed"')]
)
def test_a_plan_that_was_edited_is_refused(part: bytes, edited: bytes) -> None:
    kept = save(plan_of(Step(A, Action.CREATED)), Graph([desired("a", data={"x": "1"})]))
    assert load(kept) and kept.count(part)
    with pytest.raises(InvalidPlan, match="was modified after it was created"):
        load(kept.replace(part, edited))


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with pytest.raises(InvalidPlan):
        load(data)
