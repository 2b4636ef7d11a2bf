"""`grove preflight inject`, and `grove compile --preflight`, which shows the same for the pods of sets."""

from __future__ import annotations

import json

import jsonpatch
import pytest
import yaml

from ..processes import Grove

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: training}
spec:
  initContainers: [{name: mine, image: m}]
  containers: [{name: main, image: m, resources: {limits: {nvidia.com/gpu: 8}}}]
"""
SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: chat, namespace: training}
spec:
  replicas: 1
  template:
    cliques:
    - name: worker
      spec:
        roleName: worker
        replicas: 2
        podSpec: {containers: [{name: main, image: m, resources: {limits: {nvidia.com/gpu: 8, rdma/ib: 1}}}]}
"""
VALUES = "preflight-injector: {checks: [{name: nccl-allreduce, image: a}], networkDetection: {resourceNames: [rdma/ib]}}\n"


def test_a_pod_is_printed_with_its_checks(grove: Grove) -> None:
    grove.file("pod.yaml", POD)
    pod = yaml.load(grove("preflight", "inject", "pod.yaml").out, yaml.CSafeLoader)
    assert [one["name"] for one in pod["spec"]["initContainers"]] == ["preflight-dcgm-diag", "mine"]


def test_the_patch_makes_that_pod_of_the_one_that_was_given(grove: Grove) -> None:
    grove.file("pod.yaml", POD)
    patch = json.loads(grove("preflight", "inject", "pod.yaml", "-o", "patch").out)
    assert jsonpatch.apply_patch(yaml.load(POD, yaml.CSafeLoader), patch) == yaml.load(
        grove("preflight", "inject", "pod.yaml").out, yaml.CSafeLoader
    )


def test_a_pod_may_come_with_the_claims_that_it_names(grove: Grove) -> None:
    claim = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: training}\n"
    claim += "spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com}}]}}\n"
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: training}\n"
    pod += "spec: {resourceClaims: [{name: gpus, resourceClaimName: c}], containers: [{name: main, image: m}]}\n"
    grove.file("all.yaml", f"{claim}---\n{pod}")
    grove.file("values.yaml", "gpuDetection: {deviceClasses: [gpu.nvidia.com]}\n")
    injected = yaml.load(grove("preflight", "inject", "all.yaml", "--values", "values.yaml").out, yaml.CSafeLoader)
    assert injected["spec"]["initContainers"][0]["resources"]["claims"] == [{"name": "gpus"}]


@pytest.mark.parametrize(
    ("text", "place"), [("dcgm: {diagLevl: 2}", "1:8"), ("checkTimeout: 0s", "1:1"), ("preflight-injector:\n  gangTimeout: -5s", "2:3")]
)
def test_what_is_wrong_with_values_is_told_with_its_line_and_nothing_is_printed(text: str, place: str, grove: Grove) -> None:
    grove.file("pod.yaml", POD)
    grove.file("values.yaml", text + "\n")
    result = grove("preflight", "inject", "pod.yaml", "--values", "values.yaml")
    assert (result.code, result.out) == (1, "")
    assert f"values.yaml:{place}" in result.err


def test_a_pod_that_no_server_would_decode_is_told_with_its_line(grove: Grove) -> None:
    grove.file("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: 3}\n")
    result = grove("preflight", "inject", "pod.yaml")
    assert (result.code, result.out) == (1, "")
    assert "spec.containers" in result.err


def test_a_warning_about_the_input_is_told_once_beside_what_is_printed(grove: Grove) -> None:
    grove.file("pod.yaml", POD.replace("{name: p,", "{name: p, labels: {yes: a},"))
    result = grove("preflight", "inject", "pod.yaml")
    assert result.code == 0 and result.out
    assert result.err.count("the key yes reads as true") == 1


def test_input_without_a_pod_is_misuse(grove: Grove) -> None:
    grove.file("set.yaml", SET)
    result = grove("preflight", "inject", "set.yaml")
    assert (result.code, result.out) == (2, "")
    assert "expected Pods" in result.err


def test_rules_of_ones_own_count(grove: Grove) -> None:
    grove.file("pod.yaml", POD)
    rule = "rule: preflight/checked-pods\ndoc: No pod of ours.\ndecide: is_checked\nvalue: pod.namespace == 'other'\n"
    grove.file("mine/rules/none.yaml", rule)
    pod = yaml.load(grove("preflight", "inject", "pod.yaml", "--rules", "mine").out, yaml.CSafeLoader)
    assert [one["name"] for one in pod["spec"]["initContainers"]] == ["mine"]


def test_compiled_pods_come_out_with_the_checks_of_their_gang(grove: Grove) -> None:
    grove.file("set.yaml", SET)
    grove.file("values.yaml", VALUES)
    result = grove("compile", "set.yaml", "--preflight", "--preflight-values", "values.yaml", "-o", "yaml")
    pods = [one for one in yaml.load_all(result.out, yaml.CSafeLoader) if one["kind"] == "Pod"]
    assert [[box["name"] for box in pod["spec"]["initContainers"]] for pod in pods] == [["preflight-nccl-allreduce"]] * 2
    assert {pod["spec"]["volumes"][-1]["configMap"]["name"] for pod in pods} == {"preflight-chat-0"}


def test_what_there_is_to_say_of_alike_pods_is_said_once(grove: Grove) -> None:
    grove.file("set.yaml", SET.replace("rdma/ib: 1", "cpu: 1"))
    grove.file("values.yaml", VALUES)
    result = grove("compile", "set.yaml", "--preflight", "--preflight-values", "values.yaml")
    assert result.err.count("is skipped") == 1


@pytest.mark.parametrize("flags", [("--preflight-values", "values.yaml")])
def test_values_for_nothing_are_misuse(grove: Grove, flags: tuple[str, ...]) -> None:
    grove.file("set.yaml", SET)
    assert grove("compile", "set.yaml", *flags).code == 2
