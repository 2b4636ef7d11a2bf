"""What is to be done with each object, decided without asking."""

from __future__ import annotations

from typing import Any

import pytest

from applier.desired import Desired, Graph, Policy
from applier.outcome import Action, Obstacle, Step
from applier.plan import Intent, Plan, plan
from applier.ref import Kind, Manifest, Ref

from ..free_schemas import FreeSchemas
from ..things import definition, desired, manifest, ref

A = ref("a")
TERMINATING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


class Live(dict[Ref, Manifest]):
    """What was read: these objects, and no others of any kind but those in `unread`."""

    unread: tuple[str, ...] = ()

    def get(self, ref: Ref, default: Any = None) -> Any:
        if ref.kind in self.unread:
            raise KeyError(ref)
        return super().get(ref, default)


def live(*manifests: Manifest) -> Live:
    return Live({Ref.of(one): one for one in manifests})


def there(name: str, kind: str = "ConfigMap", manager: str = "me", **fields: Any) -> Manifest:
    """A live object whose data this manager has applied."""
    owned: Manifest = {"f:data": {f"f:{key}": {} for key in fields["data"]}} if "data" in fields else {}
    entry = {"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": "t", "fieldsV1": owned}
    metadata = {"uid": f"uid of {name}", "resourceVersion": "1", "managedFields": [entry], **fields.pop("metadata", {})}
    return manifest(name, kind, metadata=metadata, **fields)


def planned(found: Live, *objects: Desired, **options: Any) -> Plan:
    schemas: Any = options.pop("schemas", FreeSchemas())
    intent = Intent("me", **{name: options.pop(name) for name in ("force", "take_over") if name in options})
    return plan(Graph(objects), found, schemas, intent, **options)


def step(found: Live, *objects: Desired, **options: Any) -> Step:
    """The step of the last object of the plan."""
    return planned(found, *objects, **options).steps[-1]


def test_what_is_not_there_is_created() -> None:
    assert step(live(), desired("a")).action is Action.CREATED


def test_what_is_as_wanted_is_unchanged_and_says_nothing() -> None:
    found = step(live(there("a", data={"x": "1"})), desired("a", data={"x": "1"}))
    assert (found.action, found.reason, found.changes) == (Action.UNCHANGED, "", [])


def test_what_differs_is_configured_with_the_fields() -> None:
    found = step(live(there("a", data={"x": "1"})), desired("a", data={"x": "2"}))
    assert (found.action, found.reason) == (Action.CONFIGURED, "data.x")
    assert [(change.old, change.new) for change in found.changes] == [("1", "2")]


def test_a_step_names_the_object_that_it_was_decided_on() -> None:
    found = step(live(there("a", data={"x": "1"})), desired("a", data={"x": "2"}))
    assert (found.uid, found.resource_version) == ("uid of a", "1")


def test_an_object_of_which_nothing_is_wanted_is_unchanged_whatever_it_is() -> None:
    """Once more applied, the server would only begin to record who set what is there."""
    found = manifest("shop", "Namespace", metadata={"uid": "u", "resourceVersion": "1", "labels": {"kubernetes.io/metadata.name": "shop"}})
    assert step(live(found), desired("shop", "Namespace")).action is Action.UNCHANGED


def test_a_field_that_we_give_up_is_a_change_although_nothing_is_wanted() -> None:
    assert step(live(there("a", data={"x": "1"})), desired("a")).action is Action.CONFIGURED


def test_drift_names_who_caused_it() -> None:
    edited = there("a", "ConfigMap", data={"x": "2"})
    edited["metadata"]["managedFields"][0]["manager"] = "kubectl-edit"
    found = step(live(edited), desired("a", data={"x": "1"}), force=("*",))
    assert found.reason == "data.x; last set by kubectl-edit (Apply at t)"


def test_a_conflict_is_held_with_the_fields_and_the_ways_out() -> None:
    found = step(live(there("a", manager="rival", data={"x": "1"})), desired("a", data={"x": "2"}))
    assert (found.action, [conflict.owner.manager for conflict in found.conflicts]) == (Action.HELD, ["rival"])
    assert found.reason.startswith("rival (Apply at t) owns data.x with another value: take it (force)")


def test_an_object_that_is_being_deleted_is_made_again() -> None:
    found = step(live(there("a", metadata={**TERMINATING, "finalizers": ["x/y"]})), desired("a"))
    assert (found.action, found.uid) == (Action.CREATED, "uid of a")
    assert (
        found.reason
        == "the existing one has been terminating since 2026-01-01T00:00:00Z, held by x/y; it is recreated once that one is gone"
    )


def test_what_is_in_a_namespace_that_is_being_deleted_is_made_again_with_it() -> None:
    found = step(live(there("shop", "Namespace", metadata=TERMINATING), there("a")), desired("shop", "Namespace"), desired("a"))
    assert (found.action, found.reason) == (Action.CREATED, "Namespace/shop is recreated, and it with it")


def test_objects_of_a_definition_that_is_being_deleted_are_made_again_with_it() -> None:
    crd = definition()
    going = there(crd.ref.name, "CustomResourceDefinition", metadata=TERMINATING)
    found = step(live(going, there("e", "Engine")), crd, desired("e", "Engine"))
    assert (found.action, found.uid) == (Action.CREATED, "uid of e")


def test_objects_of_a_new_definition_are_created_without_having_been_read() -> None:
    found = live()
    found.unread = ("Engine",)
    assert step(found, definition(), desired("e", "Engine")).action is Action.CREATED


def test_what_was_not_read_fails() -> None:
    found = live()
    found.unread = ("ConfigMap",)
    assert (step(found, desired("a")).action, step(found, desired("a")).reason) == (Action.FAILED, "the live object was not read")


def test_a_kind_that_is_not_served_fails() -> None:
    found = step(live(), desired("e", "Engine"), unserved={Kind("example.com", "v1", "Engine")})
    reason = "the server does not serve Engine in example.com/v1; install its definition first"
    assert (found.action, found.reason, found.obstacle) == (Action.FAILED, reason, Obstacle.UNSERVED)


def test_a_comparison_that_breaks_fails_and_hides_no_other() -> None:
    class Broken:
        def get(self, kind: Kind) -> Any:
            return "no schema" if kind.kind == "ConfigMap" else FreeSchemas.type

    found = planned(live(there("a", data={"x": "1"})), desired("a", data={"x": "2"}), desired("b", "Pod"), schemas=Broken())
    assert [one.action for one in found.steps] == [Action.FAILED, Action.CREATED]
    assert found.steps[0].reason.startswith("cannot be compared: ")


def test_without_a_schema_the_server_is_to_be_asked() -> None:
    class None_:
        def get(self, kind: Kind) -> None:
            return None

    found = step(live(there("a", data={"x": "1"})), desired("a", data={"x": "1"}), schemas=None_())
    assert (found.action, found.unsure, found.reason) == (Action.CONFIGURED, True, "the schema of ConfigMap is not known")


# Policies.


FIXED = there("a", "Service", spec={"clusterIP": "1"})


@pytest.mark.parametrize(("recreate", "action"), [(True, Action.RECREATED), (False, Action.HELD)])
def test_a_fixed_field_is_for_the_policy_to_decide(recreate: bool, action: Action) -> None:
    found = step(live(FIXED), desired("a", "Service", spec={"clusterIP": "2"}, policy=Policy(recreate=recreate)))
    assert (found.action, found.reason.startswith("spec.clusterIP cannot be changed once set")) == (action, True)


def test_an_object_that_is_only_created_is_unchanged_whatever_differs() -> None:
    found = step(live(there("a", data={"x": "1"})), desired("a", data={"x": "2"}, policy=Policy(create_only=True)))
    assert (found.action, found.reason) == (Action.UNCHANGED, "is only created, never changed; differs in data.x")


def test_an_object_that_is_only_created_and_does_not_differ_says_so() -> None:
    found = step(live(there("a", data={"x": "1"})), desired("a", data={"x": "1"}, policy=Policy(create_only=True)))
    assert (found.action, found.reason) == (Action.UNCHANGED, "is only created, never changed")


def test_what_the_server_filled_in_is_no_difference_of_an_object_that_is_only_created() -> None:
    """A plain create makes all of it ours, defaults included."""
    filled = there("a", data={"x": "1"}, spec={"type": "Opaque"})
    entry = filled["metadata"]["managedFields"][0]
    entry["operation"] = "Update"
    entry["fieldsV1"]["f:spec"] = {"f:type": {}}
    found = step(live(filled), desired("a", data={"x": "1"}, policy=Policy(create_only=True)))
    assert (found.action, found.reason, found.changes) == (Action.UNCHANGED, "is only created, never changed", [])


def test_somebody_elses_object_is_held_when_it_would_have_to_be_written() -> None:
    found = step(live(there("a", manager="rival", data={"x": "1"})), desired("a", data={"y": "1"}, policy=Policy(adopt=False)))
    assert (found.action, "created by rival" in found.reason, found.obstacle) == (Action.HELD, True, Obstacle.FOREIGN)


def test_a_field_that_is_left_to_others_is_yielded() -> None:
    found = step(live(there("a", manager="rival", data={"x": "1"})), desired("a", data={"x": "2"}, policy=Policy(yields=("/data/x",))))
    assert (found.action, found.reason) == (Action.YIELDED, "differs only in fields left to rival")


def test_taking_over_is_a_change() -> None:
    found = step(live(there("a", manager="helm", data={"x": "1"})), desired("a", data={"x": "1"}), take_over=("helm",))
    assert (found.action, found.reason) == (Action.CONFIGURED, "ownership is taken over from helm")


def test_taking_over_is_the_reason_where_only_the_record_changes_after_it() -> None:
    """kubectl owns maps themselves, too, and whoever applies does not."""
    found = there("a", manager="helm", data={"x": "1"})
    found["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]["."] = {}
    taking = step(live(found), desired("a", data={"x": "1"}), take_over=("helm",))
    assert (taking.action, taking.reason) == (Action.CONFIGURED, "ownership is taken over from helm")


def test_a_conflict_with_a_third_stays_one_when_something_is_taken_over() -> None:
    found = there("a", manager="helm", data={"x": "1"})
    found["data"]["y"] = "1"
    rival = {**found["metadata"]["managedFields"][0], "manager": "rival", "fieldsV1": {"f:data": {"f:y": {}}}}
    found["metadata"]["managedFields"].append(rival)
    said = step(live(found), desired("a", data={"x": "1", "y": "2"}), take_over=("helm",))
    assert (said.action, [conflict.path for conflict in said.conflicts]) == (Action.HELD, [("data", "y")])


@pytest.mark.parametrize(("force", "action"), [((), Action.HELD), (("rival",), Action.CONFIGURED), (("*",), Action.CONFIGURED)])
def test_an_object_may_be_forced_by_its_own_policy(force: tuple[str, ...], action: Action) -> None:
    rival = live(there("a", manager="rival", data={"x": "1"}))
    assert step(rival, desired("a", data={"x": "2"}, policy=Policy(force=force))).action is action


def test_an_object_that_nobody_owns_is_changed_where_something_is_asked_for() -> None:
    found = manifest("a", metadata={"uid": "u", "resourceVersion": "1"}, data={"x": "1"})
    assert step(live(found), desired("a", data={"x": "1"})).action is Action.CONFIGURED


# Owners.


def owned(uid: str) -> Manifest:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": uid}
    found = there("child", metadata={"ownerReferences": [reference]})
    found["metadata"]["managedFields"][0]["fieldsV1"] = {"f:metadata": {"f:ownerReferences": {}}}
    return found


def test_the_uid_of_a_live_owner_is_known() -> None:
    assert step(live(there("a"), owned("uid of a")), desired("child", owner=A)).action is Action.UNCHANGED


def test_the_uid_of_an_owner_that_stays_as_it_is_is_known() -> None:
    assert step(live(there("a"), owned("uid of a")), desired("a"), desired("child", owner=A)).action is Action.UNCHANGED


def test_another_uid_of_the_owner_is_a_change() -> None:
    assert step(live(there("a"), owned("older")), desired("child", owner=A)).action is Action.CONFIGURED


def test_an_owner_that_is_made_first_changes_what_it_owns() -> None:
    found = step(live(owned("older")), desired("a"), desired("child", owner=A))
    assert (found.action, found.unsure) == (Action.CONFIGURED, True)
    assert found.reason == "gets the UID of its owner ConfigMap/shop/a once it is known"


def test_an_owner_that_is_made_again_changes_what_it_owns() -> None:
    owner = desired("a", "Service", spec={"clusterIP": "2"}, policy=Policy(recreate=True))
    found = step(live(FIXED, there("child")), owner, desired("child", owner=owner.ref))
    assert (found.action, found.unsure) == (Action.CONFIGURED, True)
    assert found.reason == "gets the UID of its owner Service/shop/a once it is known"


def test_an_owner_that_the_object_does_not_refer_to_changes_nothing() -> None:
    child = Desired(manifest("child", data={"x": "1"}), owner=A)
    assert step(live(there("child", data={"x": "1"})), desired("a"), child).action is Action.UNCHANGED


# The plan as a whole.


def test_steps_are_in_the_order_of_writing() -> None:
    found = planned(live(), desired("b", "ConfigMap", A), desired("a"))
    assert [(one.ref.name, one.wave) for one in found.steps] == [("a", 0), ("b", 1)]


def test_what_is_pruned_comes_after_all_waves() -> None:
    found = planned(live(), desired("a"), prunable=[Step(ref("old"), Action.PRUNED)])
    assert [[one.ref.name for one in wave] for wave in found.waves()] == [["a"], ["old"]]


def test_actions_are_counted() -> None:
    found = planned(live(there("a", data={"x": "1"})), desired("a", data={"x": "1"}), desired("b"), desired("c"))
    assert found.counts() == {Action.UNCHANGED: 1, Action.CREATED: 2}
    assert [one.ref.name for one in found.changed()] == ["b", "c"]


def test_live_objects_are_kept_for_carrying_out() -> None:
    found = there("a", data={"x": "1"})
    assert planned(live(found), desired("a"), desired("b")).live == {A: found}


def test_nothing_is_planned_for_nothing() -> None:
    assert (planned(live()).steps, planned(live()).waves()) == ([], [])


def test_the_same_plan_is_made_twice() -> None:
    objects = [desired("b", "ConfigMap", A), desired("a", data={"x": "2"})]
    one, two = (planned(live(there("a", data={"x": "1"})), *objects) for _ in range(2))
    assert [repr(step) for step in one.steps] == [repr(step) for step in two.steps]
