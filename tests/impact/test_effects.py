"""Effects that take more than one set, a snapshot, or another kind of object."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from grove_compiler.compile import compile as compile_inputs
from grove_compiler.impact.account import account
from grove_compiler.impact.fate import OWN_SIZE
from grove_compiler.impact.impact import MAX_CAUSES, Impact, impact
from grove_compiler.impact.pods import ReplicaRestart
from tests.features.compiling import documents_of, program_with, shipped_program
from tests.features.random_sets import pod_cliques_sets
from tests.suite.effort import runs

from .editing import amounts, base, counts, effect, inputs, restarts

IMAGE = {"path": "spec.template.cliques[0].spec.podSpec.containers[0].image", "value": "router:2"}
WORKER = {"path": "spec.template.cliques[2].spec.podSpec.containers[0].image", "value": "engine:2"}


def named(name: str, *edits: dict[str, Any]) -> dict[str, Any]:
    return base({"path": "metadata.name", "value": name}, *edits)


def of_inputs(old: list[Any], new: list[Any]) -> Impact:
    return impact(inputs(*old, file="old.yaml"), inputs(*new), shipped_program())


def test_the_same_input_has_no_effect_and_no_cause() -> None:
    found = effect(base(), base())
    assert (found.sets, found.causes, found.touches, found.is_known) == ([], [], False, True)


def test_an_account_is_short_and_in_the_order_of_the_restarts() -> None:
    told = account(effect(base(), base(WORKER, IMAGE)).sets)
    assert told.objects == {"changed": {"PodClique": 8}}
    assert (told.pods["restarted"], told.gpus["restarted"], told.gangs["restarted"]) == (36, 198, 6)
    assert told.restarts == [
        ("demo", 0, "demo-0-router", (), 3),
        ("demo", 0, "demo-0-pd", (0, 1, 2), 15),
        ("demo", 1, "demo-1-router", (), 3),
        ("demo", 1, "demo-1-pd", (0, 1, 2), 15),
    ]


def test_mig_devices_are_counted_apart_from_gpus() -> None:
    limits = {"path": "spec.template.cliques[0].spec.podSpec.containers[0].resources", "value": {"limits": {"nvidia.com/mig-1g.5gb": 2}}}
    told = account(effect(base(limits), base(limits, IMAGE)).sets)
    assert (told.pods["restarted"], told.gpus["restarted"], told.mig_devices["restarted"]) == (6, 0, 12)


def test_a_set_that_is_new_is_made_as_a_whole() -> None:
    found = of_inputs([base()], [base(), named("other")])
    (one,) = found.sets
    assert (one.place, one.hashes[0], {fate.what for fate in one.fates}) == (("team", "other"), "", {"made"})
    assert [(cause.edit.subject, cause.edit.change.path) for cause in found.causes] == [("PodCliqueSet/team/other", ())]


def test_a_set_that_is_gone_is_deleted_as_a_whole() -> None:
    found = of_inputs([base(), named("other")], [base()])
    (one,) = found.sets
    assert (one.place, one.hashes[1], {fate.what for fate in one.fates}) == (("team", "other"), "", {"deleted"})
    assert amounts(found, "pods") == {"deleted": 36}


def test_a_set_that_is_gone_beside_a_new_one_is_deleted_as_if_nothing_else_were_edited() -> None:
    found = of_inputs([base()], [named("other")])
    effects = {cause.edit.subject: (cause.reason, {fate.what for one in cause.alone or [] for fate in one.fates}) for cause in found.causes}
    assert effects == {"PodCliqueSet/team/demo": ("", {"deleted"}), "PodCliqueSet/team/other": ("", {"made"})}


def test_an_edit_beside_a_new_strategy_is_judged_by_that_strategy() -> None:
    found = effect(base(), base(IMAGE, {"path": "spec.updateStrategy", "value": {"type": "OnDelete"}}))
    assert [one.pods.pods["restarted"] for cause in found.causes for one in cause.alone or []] == [0]
    assert amounts(found, "pods") == {}


def test_another_spelling_with_another_hash_restarts_nothing() -> None:
    memory = "spec.template.cliques[0].spec.podSpec.containers[0].resources"
    limits = [{"path": memory, "value": {"limits": {"memory": text}}} for text in ("1Gi", "1073741824")]
    image = "spec.template.cliques[1].spec.podSpec.containers[0].image"
    found = effect(base(limits[0]), base(limits[1], {"path": image, "value": "engine:3"}))
    assert len(found.causes) == 1
    assert {clique.template_name for one in restarts_of(found) for clique in one.all_cliques} == {"leader", "worker"}


def restarts_of(found: Impact) -> list[ReplicaRestart]:
    return [replica for one in found.sets for replica in one.pods.restarts]


def test_sets_are_told_apart_by_namespace_and_name_not_by_their_order() -> None:
    assert of_inputs([base(), named("other")], [named("other"), base()]).sets == []


def test_each_set_that_an_edit_reaches_is_told() -> None:
    found = of_inputs([base(), named("other")], [base(IMAGE), named("other", IMAGE)])
    assert [one.place for one in found.sets] == [("team", "demo"), ("team", "other")]
    assert [[one.place for one in cause.alone or []] for cause in found.causes] == [[("team", "demo")], [("team", "other")]]


def live(*changes: tuple[str, str, int]) -> list[dict[str, Any]]:
    """What the base set became, with some replicas scaled: kind, name, number."""
    result = compile_inputs(inputs(base()), shipped_program())
    objects = [copy.deepcopy(node.object) for node in result.graph.nodes if node.object["kind"] in ("PodClique", "PodCliqueScalingGroup")]
    for kind, name, replicas in changes:
        (one,) = [each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name]
        one["spec"]["replicas"] = replicas
    for one in objects:
        one["metadata"]["uid"] = one["metadata"]["name"]
    return objects


def test_live_numbers_of_a_snapshot_count() -> None:
    found = effect(base(), base(IMAGE), live(("PodClique", "demo-0-router", 6)))
    assert amounts(found, "pods") == {"restarted": 9}


PODS = {"path": "spec.template.cliques[0].spec.replicas", "value": 5}
UNITS = {"path": "spec.template.podCliqueScalingGroups[0].replicas", "value": 4}


@pytest.mark.parametrize("edit", [PODS, UNITS], ids=lambda edit: edit["path"])
def test_a_number_of_replicas_that_is_not_taken_over_is_told_in_a_cluster_as_for_files(edit: dict[str, Any]) -> None:
    alone = counts(effect(base(), base(edit)))
    assert counts(effect(base(), base(edit), live(("PodCliqueScalingGroup", "demo-0-pd", 3)))) == alone
    assert alone.keys() == {"left"}


def test_what_somebody_has_scaled_is_not_told_with_an_edit_of_something_else() -> None:
    scaled = live(("PodClique", "demo-0-router", 6), ("PodCliqueScalingGroup", "demo-1-pd", 5))
    assert "left" not in counts(effect(base(), base(IMAGE), scaled))
    assert counts(effect(base(), base(UNITS), scaled)) == {"left": {"PodCliqueScalingGroup": 2}}


def test_a_number_of_pods_in_a_scaling_group_is_told_with_when_it_counts() -> None:
    edit = {"path": "spec.template.cliques[2].spec.replicas", "value": 5}
    (found,) = effect(base(), base(edit), live()).sets
    assert {(fate.kind, fate.what, fate.reason) for fate in found.fates} == {("PodClique", "left", OWN_SIZE)}


def test_a_scaled_group_is_restarted_with_all_its_replicas() -> None:
    snapshot = live(("PodCliqueScalingGroup", "demo-0-pd", 1))
    found = effect(base(), base(WORKER), [one for one in snapshot if "demo-0-pd-1" not in one["metadata"]["name"]])
    assert [list(one.get("demo-0-pd") or one["demo-1-pd"]) for one in restarts(found)] == [[0], [0, 1, 2]]


def test_errors_of_either_input_leave_everything_unknown() -> None:
    broken = base({"path": "spec.template.cliques[0].spec.replicas", "value": -1})
    for old, new in ((broken, base()), (base(), broken)):
        found = effect(old, new)
        assert (found.is_known, found.sets, found.causes) == (False, [], [])
        assert found.findings


def test_warnings_are_passed_on_and_hinder_nothing() -> None:
    unknown = documents_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    new = inputs(base(IMAGE))
    new.documents += unknown
    old = inputs(base())
    old.documents += unknown
    found = impact(old, new, shipped_program())
    told = ["input/ignored", "validate/clique-scaling-requests"]
    assert ([one.code for one in found.findings], found.is_known, found.touches) == (told, True, True)


def test_more_edits_than_can_be_told_apart_are_listed_without_their_effects() -> None:
    labels = {f"l{number}": "x" for number in range(MAX_CAUSES + 1)}
    other = dict.fromkeys(labels, "y")
    found = effect(base({"path": "metadata.labels", "value": labels}), base({"path": "metadata.labels", "value": other}))
    assert {cause.reason for cause in found.causes} == {f"more than {MAX_CAUSES} edits cannot be attributed individually"}
    assert counts(found) == {"changed": {"PodGang": 6}}


CREATE_ONLY = """
rule: own/note
doc: A note about the set.
generate: own.yaml
owner: set.ref
policy: {create: only}
"""
RECREATED = CREATE_ONLY.replace("{create: only}", "{recreate: true}")
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ set.name }}", labels: {class: "{{ set.priority_class or 'none' }}"}}
data: {app: "{{ set.labels['app'] }}"}
"""
OTHER_DATA = base({"path": "metadata.labels.app", "value": "other"})
OTHER_METADATA = base({"path": "spec.template.priorityClassName", "value": "high"})


@pytest.mark.parametrize(
    ("rules", "new", "expected"),
    [(CREATE_ONLY, OTHER_DATA, "left"), (RECREATED, OTHER_DATA, "replaced"), (RECREATED, OTHER_METADATA, "changed")],
    ids=["create only", "recreate", "recreate, but only metadata"],
)
def test_the_policy_of_a_rule_decides_what_becomes_of_its_objects(rules: str, new: dict[str, Any], expected: str) -> None:
    found = impact(inputs(base(), file="old.yaml"), inputs(new), program_with(rules, TEMPLATE))
    assert [fate.what for one in found.sets for fate in one.fates if fate.kind == "ConfigMap"] == [expected]


def test_objects_that_belong_to_no_set_are_told_by_themselves() -> None:
    topology = "apiVersion: grove.io/v1alpha1\nkind: ClusterTopology\nmetadata: {name: t}\nspec:\n  levels:\n"
    level = "    - {{domain: {}, key: {}}}\n"
    config = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nscheduler: {profiles: [{name: kai-scheduler}]}\n"
    config += "topologyAwareScheduling: {enabled: true}\n"
    old = inputs()
    old.documents = documents_of(topology + level.format("rack", "example.com/rack") + "---\n" + config)
    new = inputs()
    new.documents = documents_of(topology + level.format("rack", "example.com/other") + "---\n" + config)
    found = impact(old, new, shipped_program())
    assert found.is_known, [one.message for one in found.findings]
    assert [(one.place, [(fate.what, fate.kind) for fate in one.fates]) for one in found.sets] == [(("", ""), [("replaced", "Topology")])]


@settings(max_examples=runs(40), suppress_health_check=[HealthCheck.too_slow])
@given(pod_cliques_sets(), pod_cliques_sets())
def test_from_any_set_to_any_other_of_another_name_all_goes_and_all_comes(one: dict[str, Any], other: dict[str, Any]) -> None:
    if one["metadata"]["name"] == other["metadata"]["name"]:
        return
    found = of_inputs([one], [other])
    assert set(counts(found)) <= {"made", "deleted"}
    sizes = [len(compile_inputs(inputs(each), shipped_program()).graph.nodes) for each in (other, one)]
    assert [sum(counts(found).get(word, {}).values()) for word in ("made", "deleted")] == sizes


@settings(max_examples=runs(40), suppress_health_check=[HealthCheck.too_slow])
@given(pod_cliques_sets())
def test_nothing_changes_when_nothing_is_edited(manifest: dict[str, Any]) -> None:
    assert effect(manifest, manifest).sets == []


@settings(max_examples=runs(40), suppress_health_check=[HealthCheck.too_slow])
@given(pod_cliques_sets())
def test_another_image_everywhere_restarts_every_pod_that_exists(manifest: dict[str, Any]) -> None:
    new = copy.deepcopy(manifest)
    for clique in new["spec"]["template"]["cliques"]:
        for container in clique["spec"]["podSpec"]["containers"]:
            container["image"] = "example.com/other:1"
    found = effect(manifest, new)
    result = compile_inputs(inputs(manifest), shipped_program())
    pods = sum(node.object["spec"]["replicas"] for node in result.graph.nodes if node.object["kind"] == "PodClique")
    assert sum(one.pods.pods["restarted"] for one in found.sets) == pods
    assert sum(one.pods.pods["made"] + one.pods.pods["deleted"] for one in found.sets) == 0
