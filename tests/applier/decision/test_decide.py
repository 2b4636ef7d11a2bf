"""Verdicts, and the grounds that are given for them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from applier.decision import Verdict, decide, read_openapi
from applier.outcome import ABSENT, Conflict, FieldChange, ItemKey, Owner
from applier.ref import Kind, Manifest
from tests.suite.rows import rows

from .building import NOW, applied, config, decided, deployment, gadget, updated
from .typical import MANAGER, manifests, stored

_THEM = Owner("them", "Apply", NOW)


def test_what_is_not_there_is_created() -> None:
    assert decided(config(), None).verdict is Verdict.CREATE


@rows("number", range(len(manifests())), ids=[manifest["kind"] for manifest in manifests()])
def test_what_a_server_stored_for_us_stays_as_it_is(number: int) -> None:
    manifest, live = manifests()[number], stored()[number]
    assert decided(manifest, live, by=MANAGER).verdict is Verdict.SAME


@rows("number", range(len(manifests())), ids=[manifest["kind"] for manifest in manifests()])
def test_deciding_changes_neither_object(number: int) -> None:
    manifest, live = manifests()[number], stored()[number]
    before = copy.deepcopy((manifest, live))
    decided(manifest, live, by="somebody else", force=("*",))
    assert (manifest, live) == before


@rows(
    ("first", "second"),
    [
        (config({"a": "1"}), config({"a": "1"})),
        (config({}), config({})),
        (config(labels={"a": "<&>"}), config(labels={"a": "<&>"})),
        (config(finalizers=["x/a", "x/b"]), config(finalizers=["x/a", "x/b"])),
        (config(creationTimestamp=None), config()),
        (deployment(resources={"limits": {"cpu": "1000m"}}), deployment(resources={"limits": {"cpu": 1}})),
        (deployment(stdin=False), deployment(stdin=False)),
        (deployment(args=[]), deployment(args=[])),
        (deployment(ports=[{"containerPort": 80}]), deployment(ports=[{"containerPort": 80}])),
        ({**deployment(), "status": {"replicas": 3}}, deployment()),
        (gadget(amount=1), gadget(amount=1.0)),
        (gadget(keyed=[{"id": "a"}, {"id": "b"}]), gadget(keyed=[{"id": "a"}, {"id": "b"}])),
        (gadget(untyped={"b": [1, {"c": True}]}), gadget(untyped={"b": [1, {"c": True}]})),
    ],
)  # fmt: skip
def test_the_same_again_changes_nothing(first: Manifest, second: Manifest) -> None:
    assert decided(second, applied(first)).verdict is Verdict.SAME


@rows(
    ("live", "intent", "changes"),
    [
        (config({"a": "1"}), config({"a": "2"}), [(("data", "a"), "1", "2")]),
        (config({"a": "1"}), config({"a": "1", "b": "2"}), [(("data", "b"), ABSENT, "2")]),
        (config({"a": "1", "b": "2"}), config({"a": "1"}), [(("data", "b"), "2", ABSENT)]),
        (config({"a": "1"}), config(), [(("data", "a"), "1", ABSENT)]),
        (deployment(args=["a", "b"]), deployment(args=["a", "c"]), [("args 1", "b", "c")]),
        (deployment(args=["a", "b"]), deployment(args=["a"]), [("args", ["a", "b"], ["a"])]),
        (gadget(chosen=["a", "b"]), gadget(chosen=["b", "a"]), [(("spec", "chosen"), ["a", "b"], ["b", "a"])]),
        (
            gadget(chosen=["a"]),
            gadget(chosen=["b"]),
            [(("spec", "chosen", ItemKey((("", "a"),))), "a", ABSENT), (("spec", "chosen", ItemKey((("", "b"),))), ABSENT, "b")],
        ),
        (gadget(whole={"a": "1", "b": "2"}), gadget(whole={"a": "1"}), [(("spec", "whole", "b"), "2", ABSENT)]),
        (gadget(flag=True), gadget(flag=1), None),
        (gadget(untyped=True), gadget(untyped=1), [(("spec", "untyped"), True, 1)]),
    ],
)  # fmt: skip
def test_a_change_names_the_fields(live: Manifest, intent: Manifest, changes: Any) -> None:
    decision = decided(intent, applied(live))
    if changes is None:
        assert (decision.verdict, decision.reason) == (Verdict.UNKNOWN, "the server may reject it: spec.flag: expected boolean")
        return
    container = ("spec", "template", "spec", "containers", ItemKey((("name", "main"),)))
    paths = [
        (*container, *(int(part) if part.isdigit() else part for part in path.split())) if isinstance(path, str) else path
        for path, *_ in changes
    ]
    wanted = [FieldChange(path, old, new) for path, (_, old, new) in zip(paths, changes, strict=True)]
    assert (decision.verdict, decision.changes) == (Verdict.CHANGE, wanted)


def test_drift_names_who_made_it() -> None:
    live = updated(applied(config({"b": "1"})), {"f:data": {"f:a": {}}}, data={"a": "drifted", "b": "1"})
    decision = decided(config({"a": "1", "b": "1"}), live, force=("*",))
    assert decision.changes == [FieldChange(("data", "a"), "drifted", "1", (Owner("editor", "Update", NOW),))]


def test_a_field_of_another_manager_with_another_value_is_a_conflict() -> None:
    decision = decided(config({"a": "2"}), applied(config({"a": "1"}), by="them"))
    assert (decision.verdict, decision.conflicts) == (Verdict.CONFLICT, [Conflict(("data", "a"), _THEM)])


def test_a_field_of_another_manager_with_the_same_value_is_shared() -> None:
    decision = decided(config({"a": "1"}), applied(config({"a": "1"}), by="them"))
    assert (decision.verdict, decision.changes) == (Verdict.CHANGE, [])


def test_our_own_updates_are_another_managers() -> None:
    live = updated(config({"a": "1"}), {"f:data": {"f:a": {}}}, by="us")
    assert decided(config({"a": "2"}), live).conflicts == [Conflict(("data", "a"), Owner("us", "Update", NOW))]


def test_a_subresource_is_another_manager() -> None:
    live = updated(applied(deployment()), {"f:spec": {"f:replicas": {}}}, by="us", subresource="scale")
    live["spec"] = {**live["spec"], "replicas": 5}
    assert decided(deployment({"replicas": 1}), live).conflicts == [Conflict(("spec", "replicas"), Owner("us", "Update", NOW, "scale"))]


@pytest.mark.parametrize("force", [("them",), ("*",), ("somebody", "them")])
def test_fields_are_taken_from_managers_that_are_named(force: tuple[str, ...]) -> None:
    decision = decided(config({"a": "2"}), applied(config({"a": "1"}), by="them"), force=force)
    assert (decision.verdict, decision.force, decision.conflicts) == (Verdict.CHANGE, True, [])


def test_no_field_is_taken_from_one_that_is_not_named() -> None:
    live = applied(config({"b": "1"}), applied(config({"a": "1"}), by="them"), by="others")
    decision = decided(config({"a": "2", "b": "2"}), live, force=("others",))
    assert (decision.verdict, [conflict.owner.manager for conflict in decision.conflicts]) == (Verdict.CONFLICT, ["them"])


def test_a_field_that_we_share_is_given_up_without_being_removed() -> None:
    live = applied(config({"a": "1"}), applied(config({"a": "1", "b": "1"})), by="them")
    decision = decided(config({"b": "1"}), live)
    assert (decision.verdict, decision.changes) == (Verdict.CHANGE, [])


def test_without_a_schema_only_the_server_can_say() -> None:
    decision = decide(config(), config(), None, manager="us")
    assert (decision.verdict, decision.reason) == (Verdict.UNKNOWN, "the schema of ConfigMap is not known")


@rows(
    ("spec", "why"),
    [
        ({"mystery": 1}, "spec.mystery: field not declared in schema"),
        ({"level": "high"}, "spec.level: expected numeric"),
        ({"keyed": [{"id": "a"}, {"id": "a"}]}, 'spec.keyed.1: duplicate entries for key {"id":"a","port":80}'),
        ({"chosen": [{}]}, "spec.chosen.0: an item of a set that is not a scalar"),
        ({"keyed": ["a"]}, "spec.keyed.0: an item of a list with keys that is not a map"),
        ({"words": ["a"]}, "spec.words: expected a map"),
        ({"listed": {"a": "b"}}, "spec.listed: expected a list"),
    ],
)
def test_what_breaks_the_schema_is_left_to_the_server(spec: Any, why: str) -> None:
    decision = decided(gadget(**spec), applied(gadget(level=1)))
    assert (decision.verdict, decision.reason) == (Verdict.UNKNOWN, f"the server may reject it: {why}")


def test_entries_that_cannot_be_read_are_left_to_the_server() -> None:
    live = updated(applied(config({"a": "1"})), {})
    live["metadata"]["managedFields"][1]["fieldsType"] = "FieldsV9"
    assert decided(config({"a": "2"}), live).verdict is Verdict.UNKNOWN


def test_entries_in_another_version_are_left_to_the_server_when_anything_differs() -> None:
    live = applied(deployment({"replicas": 1}))
    live["metadata"]["managedFields"][0] |= {"apiVersion": "apps/v1beta1"}
    decision = decided(deployment({"replicas": 2}), live)
    assert (decision.verdict, decision.reason) == (Verdict.UNKNOWN, "fields are also managed in apps/v1beta1")


def test_entries_of_others_in_another_version_do_not_matter_when_nothing_differs() -> None:
    live = updated(applied(deployment({"replicas": 1})), {"f:metadata": {"f:annotations": {}}})
    live["metadata"]["managedFields"][1] |= {"apiVersion": "apps/v1beta1"}
    assert decided(deployment({"replicas": 1}), live).verdict is Verdict.SAME


def test_our_own_entry_in_another_version_is_written_anew() -> None:
    live = applied(config({"a": "1"}))
    live["metadata"]["managedFields"][0] |= {"apiVersion": "v1beta1"}
    decision = decided(config({"a": "1"}), live)
    assert (decision.verdict, decision.changes) == (Verdict.CHANGE, [])


def test_an_object_that_nobody_owns_gets_owners() -> None:
    decision = decided(config({"a": "1"}), config({"a": "1"}))
    assert (decision.verdict, decision.changes) == (Verdict.CHANGE, [])


def test_a_default_inside_an_atomic_field_is_no_change() -> None:
    variable = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    live = applied(deployment(env=[copy.deepcopy(variable)]))
    live["spec"]["template"]["spec"]["containers"][0]["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] = "v1"
    assert decided(deployment(env=[variable]), live).verdict is Verdict.SAME


def test_what_nothing_fills_in_is_taken_out_of_an_atomic_field() -> None:
    variable = {"name": "NODE", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}
    live = applied(deployment(env=[copy.deepcopy(variable)]))
    live["spec"]["template"]["spec"]["containers"][0]["env"][0]["valueFrom"]["configMapKeyRef"]["optional"] = True
    decision = decided(deployment(env=[variable]), live)
    assert (decision.verdict, decision.changes[0].path[-1]) == (Verdict.CHANGE, "optional")


def test_tolerations_that_admission_adds_to_pods_are_no_change() -> None:
    mine = {"key": "gpu", "operator": "Exists"}
    added = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"tolerations": [mine], "containers": []}}
    live = applied(pod)
    live = {**live, "spec": {**live["spec"], "tolerations": [mine, added]}}
    assert decided(pod, live).verdict is Verdict.SAME


def test_an_empty_struct_that_is_gone_is_missed() -> None:
    live = applied(deployment(securityContext={}))
    del live["spec"]["template"]["spec"]["containers"][0]["securityContext"]
    assert decided(deployment(securityContext={}), live).verdict is Verdict.CHANGE


def test_null_in_a_custom_object_is_a_value() -> None:
    live = applied(gadget(nothing=None, level=3))
    del live["spec"]["nothing"]
    assert decided(gadget(nothing=None, level=3), live).verdict is Verdict.CHANGE


def test_null_over_a_default_of_a_custom_kind_is_left_to_the_server() -> None:
    decision = decided(gadget(level=None), applied(gadget(level=None)) | {"spec": {"level": 3}})
    assert (decision.verdict, decision.reason) == (Verdict.UNKNOWN, "spec.level: null may mean a default")


def test_what_two_own_and_one_sends_otherwise_than_it_is_kept_is_a_conflict() -> None:
    live = applied(gadget(wholeStruct={"first": "x", "second": 5}))
    live = applied(gadget(wholeStruct={"first": "x", "second": 5}), live, by="them")
    decision = decided(gadget(wholeStruct={"first": "x"}), live)
    assert (decision.verdict, [conflict.path for conflict in decision.conflicts]) == (Verdict.CONFLICT, [("spec", "wholeStruct")])


def test_a_manager_that_a_scale_left_with_two_entries_gets_one() -> None:
    live = updated(updated(applied(config({"a": "1"})), {"f:data": {"f:x": {}}}), {"f:data": {"f:y": {}}})
    decision = decided(config({"a": "1"}), live)
    assert (decision.verdict, decision.changes) == (Verdict.CHANGE, [])


def test_a_live_object_of_another_version_is_left_to_the_server() -> None:
    decision = decided(deployment(), {**applied(deployment()), "apiVersion": "apps/v1beta1"})
    assert (decision.verdict, decision.reason) == (Verdict.UNKNOWN, "the live object was read in apps/v1beta1, not in apps/v1")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([{"from": [{"podSelector": {}}]}], [{"from": [{}]}]),
        ([{"ports": [{"port": 0}]}], [{"ports": [{}]}]),
    ],
)
def test_an_empty_value_in_a_pointer_is_missed_inside_an_atomic_list(old: Any, new: Any) -> None:
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"}}
    live = applied({**policy, "spec": {"podSelector": {}, "ingress": old}})
    decision = decided({**policy, "spec": {"podSelector": {}, "ingress": new}}, live)
    assert decision.verdict is Verdict.CHANGE


def test_an_empty_value_in_a_pointer_is_new_inside_an_atomic_field() -> None:
    def with_key(**optional: Any) -> Manifest:
        return deployment(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b", **optional}}}])

    assert decided(with_key(optional=False), applied(with_key())).verdict is Verdict.CHANGE


@pytest.mark.parametrize(
    ("live", "intent"),
    [
        ({"ingress": [{"from": [{"namespaceSelector": {}}]}]}, {"ingress": [{"from": [{"namespaceSelector": None}]}]}),
        ({"ingress": [{}]}, {"ingress": None}),
    ],
)
def test_null_over_an_empty_pointer_is_a_change(live: Any, intent: Any) -> None:
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"}}
    assert decided({**policy, "spec": {"podSelector": {}, **intent}}, applied({**policy, "spec": {"podSelector": {}, **live}})).verdict is (
        Verdict.CHANGE
    )


@pytest.mark.parametrize("name", ["securityContext", "lifecycle"])
def test_null_over_an_empty_struct_of_a_container_is_a_change(name: str) -> None:
    assert decided(deployment(**{name: None}), applied(deployment(**{name: {}}))).verdict is Verdict.CHANGE


@pytest.mark.parametrize(
    ("stored", "sent", "verdict"),
    [
        ({"strategy": {"type": "RollingUpdate"}}, {"strategy": {"type": ""}}, Verdict.SAME),
        ({"strategy": {"type": "Recreate"}}, {"strategy": {"type": ""}}, Verdict.CHANGE),
        ({"replicas": 1}, {"replicas": None}, Verdict.SAME),
        ({"replicas": 2}, {"replicas": None}, Verdict.CHANGE),
        ({"replicas": 1}, {"replicas": 0}, Verdict.CHANGE),
    ],
)
def test_nothing_stands_for_a_default_in_a_plain_field_and_null_in_a_pointer(stored: Any, sent: Any, verdict: Verdict) -> None:
    live = applied(deployment(sent))
    assert decided(deployment(sent), {**live, "spec": {**live["spec"], **stored}}).verdict is verdict


@pytest.mark.parametrize("items", [[{"name": "a"}], [{"level": 2}], [{}], [None], []])
def test_a_member_that_is_taken_out_of_an_item_without_a_key_is_a_change(items: Any) -> None:
    live = applied(gadget(wholeItems=[{"name": "a", "level": 2}]))
    decision = decided(gadget(wholeItems=items), live, force=("*",))
    assert (decision.verdict, decision.reason) == (Verdict.CHANGE, "")
    assert applied(gadget(wholeItems=items), live)["spec"]["wholeItems"] != live["spec"]["wholeItems"]


def test_a_whole_number_beyond_64_bits_is_left_for_the_server_to_refuse() -> None:
    decision = decided(gadget(level=2**70), applied(gadget(level=1)))
    assert (decision.verdict, decision.reason.rpartition("spec.")[2]) == (
        Verdict.UNKNOWN,
        "level: a whole number beyond 64 bits, which the server cannot store",
    )


def test_a_size_that_is_none_is_never_unchanged() -> None:
    live = applied(deployment(resources={"limits": {"memory": "1Gi"}}))
    assert decided(deployment(resources={"limits": {"memory": "1 Gi"}}), live).verdict is Verdict.CHANGE


@pytest.mark.parametrize(
    ("definition", "field", "model", "sent"),
    [
        ("CustomResourceSubresources", "status", {"type": "object"}, {}),
        ("JSONSchemaProps", "default", {}, {}),
        ("JSONSchemaProps", "default", {}, []),
        ("JSONSchemaProps", "default", {}, ""),
        ("JSONSchemaProps", "default", {}, False),
    ],
)
def test_an_empty_value_in_a_type_without_fields_is_written(definition: str, field: str, model: Any, sent: Any) -> None:
    """A definition of a custom kind has all of these; here each is a kind of its own."""
    named = [{"group": "x", "version": "v1", "kind": "Thing"}]
    properties = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}, field: model}
    described = {"type": "object", "x-kubernetes-group-version-kind": named, "properties": properties}
    name = f"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.{definition}"
    schema = read_openapi({"components": {"schemas": {name: described}}}).get(Kind("x", "v1", "Thing"))
    live: Manifest = {"apiVersion": "x/v1", "kind": "Thing", "metadata": {"name": "a"}}
    decision = decide({**live, field: sent}, updated(live, {f"f:{field}": {}}), schema, manager="us")
    assert [(change.path, change.new) for change in decision.changes] == [((field,), sent)]
