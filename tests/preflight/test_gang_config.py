"""The ConfigMap of a gang, worked out from pods as a cluster shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_cli import rulebook
from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.sources import RuleSource
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.model.preflight.gang import config_map_name
from grove_compiler.preflight_gang import ForeignName, GangKey, gang_objects, key_of
from grove_compiler.subjects import VOCABULARY
from preflight_images.nccl_allreduce.gang import instance_type, read_gang

from ..shipped import program
from .injecting import inject_pod, pod_of, values_of

DESIGN = yaml.load((Path(__file__).parent / "design-configmap.yaml").read_text(), yaml.CSafeLoader)
VALUES = {"checks": [{"name": "nccl-allreduce", "image": "a"}]}
KUEUE = {**VALUES, "gangDiscovery": {"method": "kueue"}}
DEVICES = {"limits": {"nvidia.com/gpu": 8, "nvidia.com/mlnxnics": 4}}
WORKLOAD = {
    "apiVersion": "scheduling.k8s.io/v1alpha1",
    "kind": "Workload",
    "metadata": {"name": "myworkload", "namespace": "training", "uid": "w-1"},
    "spec": {"podGroups": [{"name": "group1", "policy": {"gang": {"minCount": 2}}}]},
}
KEY = GangKey("training", "preflight-myworkload-group1", "preflight-myworkload-group1")


def pod(name: str, address: str = "", **more: Any) -> Manifest:
    """A pod of the design's gang, as admission has made it, with an address if it has one."""
    spec = {"workloadRef": {"name": "myworkload", "podGroup": "group1"}, "containers": [{"name": "main", "resources": DEVICES}]}
    made = inject_pod(pod_of(spec), VALUES, ObjectList([WORKLOAD])).injected
    status = {"phase": more.pop("phase", "Pending"), **({"podIP": address} if address else {})}
    return {**made, "metadata": {**made["metadata"], "name": name, "uid": f"uid-of-{name}", **more}, "status": status}


def config_map(*existing: Manifest, key: GangKey = KEY) -> Manifest:
    """The one object that should exist for the gang."""
    (node,) = gang_objects(key, ObjectList(existing), values_of(VALUES), program())
    assert node.object["kind"] == "ConfigMap"
    return node.object


def test_the_printed_config_map_comes_out_to_the_letter() -> None:
    found = config_map(WORKLOAD, pod("pod-1", "10.0.1.6"), pod("pod-0", "10.0.1.5"))
    assert found["data"] == DESIGN["data"]
    assert found["metadata"]["name"] == DESIGN["metadata"]["name"]


def test_gangs_whose_first_pods_may_meet_at_a_node_have_ports_of_their_own() -> None:
    ports = []
    for namespace in ("training", "team-a", "team-b"):
        first = pod("pod-0", "10.0.1.5", namespace=namespace)
        first["spec"]["hostNetwork"] = True
        ports.append(int(config_map(first, key=KEY._replace(namespace=namespace))["data"]["master_port"]))
    assert len(set(ports)) == len(ports)
    assert [port for port in ports if port not in range(20000, 29500)] == []


def test_pods_lead_to_the_gang_that_they_wait_for() -> None:
    assert key_of(pod("pod-0")) == KEY


def test_it_disappears_with_what_stands_for_the_gang() -> None:
    (owner,) = config_map(WORKLOAD, pod("pod-0", "10.0.1.5"))["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Workload", "w-1")


def test_without_such_an_object_it_disappears_with_the_last_pod() -> None:
    owners = config_map(pod("pod-1"), pod("pod-0"))["metadata"]["ownerReferences"]
    assert [(owner["kind"], owner["uid"]) for owner in owners] == [("Pod", "uid-of-pod-0"), ("Pod", "uid-of-pod-1")]


GONE = {
    "a pod without an address": pod("pod-1"),
    "a pod that leaves": pod("pod-1", "10.0.1.6", deletionTimestamp="2026-01-01T00:00:00Z"),
    "a pod that has failed": pod("pod-1", "10.0.1.6", phase="Failed"),
    "a pod that has succeeded": pod("pod-1", "10.0.1.6", phase="Succeeded"),
}


@pytest.mark.parametrize("what", GONE)
def test_who_is_no_peer_is_not_listed_and_still_expected(what: str) -> None:
    data = config_map(WORKLOAD, pod("pod-0", "10.0.1.5"), GONE[what])["data"]
    assert data == {"expected_count": "2", "master_addr": "10.0.1.5", "peers": "pod-0:10.0.1.5\n"}


def test_a_pod_that_replaces_another_takes_its_place() -> None:
    left = pod("pod-1", "10.0.1.6", deletionTimestamp="2026-01-01T00:00:00Z")
    data = config_map(WORKLOAD, pod("pod-0", "10.0.1.5"), left, pod("pod-2", "10.0.1.7"))["data"]
    assert data["peers"] == "pod-0:10.0.1.5\npod-2:10.0.1.7\n"


def test_a_gang_of_unknown_size_is_not_taken_for_whole() -> None:
    assert config_map(pod("pod-0", "10.0.1.5"))["data"]["expected_count"] == "0"


def test_a_gang_that_is_larger_than_it_needs_to_be_waits_for_all_that_are_there() -> None:
    pods = [pod(f"pod-{number}", f"10.0.1.{number}") for number in range(3)]
    assert config_map(WORKLOAD, *pods)["data"]["expected_count"] == "3"


def test_a_gang_waits_for_pods_that_have_a_node_and_no_address_yet() -> None:
    coming = pod("pod-2")
    coming["spec"]["nodeName"] = "node-1"
    there = [pod(f"pod-{number}", f"10.0.1.{number}") for number in range(2)]
    assert [config_map(WORKLOAD, *there, *more)["data"]["expected_count"] for more in ([], [coming], [pod("pod-2")])] == ["2", "3", "2"]


CLOSED: dict[str, Manifest] = {
    "its namespace is selected no more": {**VALUES, "namespaces": ["other"]},
    "its check is configured no more": {"checks": [{"name": "dcgm-diag", "image": "a"}]},
    "gangs are discovered in another way": {**VALUES, "gangDiscovery": {"method": "labels"}},
}


@pytest.mark.parametrize("what", CLOSED)
def test_a_gang_that_no_pod_joins_any_more_consists_of_those_that_wait_for_it(what: str) -> None:
    """Its size was unknown then, or that of pods which came without the check: those that had it waited until their timeouts."""
    pods = [pod("pod-0", "10.0.1.5"), pod("pod-1"), pod("pod-2", "10.0.1.7"), pod("pod-3", "10.0.1.8", phase="Failed")]
    (node,) = gang_objects(KEY, ObjectList([WORKLOAD, *pods]), values_of(CLOSED[what]), program())
    assert (node.object["data"]["expected_count"], node.object["data"]["master_addr"]) == ("3", "10.0.1.5")


def sized(name: str, size: str, **more: Any) -> Manifest:
    """A pod of a gang that is known by labels, which says how many pods that has."""
    labels = {"app.kubernetes.io/gang-id": "g", "app.kubernetes.io/gang-size": size, "preflight.grove.io/gang": "preflight-g"}
    volumes = [{"name": "preflight-gang-config", "configMap": {"name": "preflight-g"}}]
    made = pod_of({"volumes": volumes, "containers": [{"name": "main", "resources": DEVICES}]}, labels=labels)
    return {**made, "metadata": {**made["metadata"], "name": name, **more}, "status": {"podIP": "10.0.1.9"}}


def test_peers_with_a_node_are_told_its_type_of_machine(tmp_path: Path) -> None:
    pods = [pod(f"pod-{number}", f"10.0.1.{number}") for number in range(3)]
    for number, name in enumerate(("h100", "plain")):
        pods[number]["spec"]["nodeName"] = name
    labels = {"h100": {"node.kubernetes.io/instance-type": "p5.48xlarge"}, "plain": {}}
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": those}} for name, those in labels.items()]
    data = config_map(WORKLOAD, *pods, *nodes)["data"]
    assert data["instance_types"] == "pod-0:p5.48xlarge\n"
    (tmp_path / "instance_types").write_text(data["instance_types"])
    assert [instance_type(tmp_path, f"pod-{number}") for number in range(3)] == ["p5.48xlarge", "", ""]


@pytest.mark.parametrize("size", ["abc", "0", "-1"])
def test_a_gang_whose_pods_say_no_number_says_why_it_waits_for_ever(size: str, tmp_path: Path) -> None:
    values = values_of({**VALUES, "gangDiscovery": {"method": "labels"}})
    found = [
        gang_objects(GangKey("training", "preflight-g", "preflight-g"), ObjectList([sized("pod-0", text)]), values, program())[0].object[
            "data"
        ]
        for text in (size, "1")
    ]
    assert [(data["expected_count"], "problem" in data) for data in found] == [("0", True), ("1", False)]
    for name, text in found[0].items():
        (tmp_path / name).write_text(text)
    assert read_gang(tmp_path, "pod-0") == (None, f"the label app.kubernetes.io/gang-size is '{size}', not a number of pods such as 2")


LEFT = {"deletionTimestamp": "2026-01-01T01:00:00Z", "creationTimestamp": "2026-01-01T02:00:00Z"}


@pytest.mark.parametrize("order", [1, -1])
def test_a_gang_has_the_size_that_its_youngest_pod_says_and_none_that_leaves(order: int) -> None:
    old, left = sized("old", "2", creationTimestamp="2026-01-01T00:00:00Z"), sized("left", "9", **LEFT)
    pods = [old, sized("new", "4", creationTimestamp="2026-01-01T01:00:00Z"), left][::order]
    values = values_of({**VALUES, "gangDiscovery": {"method": "labels"}})
    (node,) = gang_objects(GangKey("training", "preflight-g", "preflight-g"), ObjectList(pods), values, program())
    assert node.object["data"]["expected_count"] == "4"


def test_while_all_of_its_pods_leave_a_config_map_goes_with_them_all_the_same() -> None:
    leaving = [pod(name, deletionTimestamp="2026-01-01T00:00:00Z") for name in ("pod-0", "pod-1")]
    owners = config_map(*leaving)["metadata"]["ownerReferences"]
    assert [owner["uid"] for owner in owners] == ["uid-of-pod-0", "uid-of-pod-1"]


def test_nothing_is_left_of_a_gang_without_pods() -> None:
    assert gang_objects(KEY, ObjectList([WORKLOAD]), values_of(VALUES), program()) == []


def test_other_config_maps_are_never_written_whatever_rules_say() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-root-ca.crt, namespace: training}\n"
    files = [*rulebook.read().sources(), RuleSource("templates/preflight/gang-configmap.yaml", text, "mine")]
    with pytest.raises(ForeignName, match="preflight-"):
        gang_objects(KEY, ObjectList([WORKLOAD, pod("pod-0")]), values_of(VALUES), build(files, VOCABULARY))


INVENTORY = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ set.name }}', namespace: '{{ set.namespace }}'}\n"
LABELLED = """
rule: team/inventory
doc: A set lists what it has.
generate: inventory.yaml
---
rule: team/label
doc: What sets have bears the name of their team.
patch: ConfigMap
do: [{op: add, path: /metadata/labels/team, value: "{{ set.labels.team or 'nobody' }}"}]
"""


def test_a_patch_of_the_config_maps_of_sets_leaves_those_of_gangs_alone() -> None:
    mine = [RuleSource("rules/team.yaml", LABELLED, "mine"), RuleSource("templates/inventory.yaml", INVENTORY, "mine")]
    made = build([*rulebook.read().sources(), *mine], VOCABULARY)
    (node,) = gang_objects(KEY, ObjectList([WORKLOAD, pod("pod-0")]), values_of(VALUES), made)
    assert "team" not in node.object["metadata"]["labels"]


def kueue_pod(name: str, address: str, resources: Manifest) -> Manifest:
    """A pod of a plain group of Kueue with three pods, as admission has made it."""
    spec = {"containers": [{"name": "main", "resources": resources}]}
    labels, annotations = {"kueue.x-k8s.io/pod-group-name": "group"}, {"kueue.x-k8s.io/pod-group-total-count": "3"}
    made = inject_pod(pod_of(spec, labels=labels, annotations=annotations), KUEUE).injected
    return {**made, "metadata": {**made["metadata"], "name": name, "uid": f"uid-of-{name}"}, "status": {"podIP": address}}


def test_a_group_of_kueue_does_not_wait_for_pods_without_gpus_which_its_total_counts() -> None:
    launcher, *workers = (kueue_pod(f"p-{at}", f"10.0.1.{at}", DEVICES if at else {}) for at in range(3))
    pod_sets = [{"name": str(count), "count": count, "template": {"spec": of["spec"]}} for of, count in ((launcher, 1), (workers[0], 2))]
    metadata = {"name": "group", "namespace": "training", "uid": "w-2"}
    workload = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": metadata, "spec": {"podSets": pod_sets}}
    key, existing = key_of(workers[0]), [launcher, *workers, workload]
    assert key is not None
    (node,) = gang_objects(key, ObjectList(existing), values_of(KUEUE), program())
    assert node.object["data"]["expected_count"] == "2"


NAMES = {
    "parts that are plain": (["myworkload", "group1"], "preflight-myworkload-group1"),
    "one part with dashes": (["chat-0"], "preflight-chat-0"),
    "as long as a name may be": (["a" * 243], "preflight-" + "a" * 243),
}


@pytest.mark.parametrize("what", NAMES)
def test_a_name_says_what_the_gang_is_called(what: str) -> None:
    parts, name = NAMES[what]
    assert config_map_name(parts) == name


@pytest.mark.parametrize(("one", "other"), [(["a-b", "c"], ["a", "b-c"]), (["a" * 250 + "1"], ["a" * 250 + "2"]), (["A_b"], ["a-b"])])
def test_two_gangs_never_share_a_name(one: list[str], other: list[str]) -> None:
    names = {config_map_name(one), config_map_name(other)}
    assert len(names) == 2
    assert max(map(len, names)) <= 253


def test_a_label_fits_however_long_the_name_is() -> None:
    made = inject_pod(pod_of({"schedulingGroup": {"podGroupName": "g" * 200}, "containers": [{"name": "m", "resources": DEVICES}]}), VALUES)
    assert len(made.injected["metadata"]["labels"]["preflight.grove.io/gang"]) <= 63
