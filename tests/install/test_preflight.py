"""The preflight injector as it is installed: what the design prints, off unless asked for (ADR-026)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_compiler.preflight import read_values
from grove_compiler.source.yaml_reader import read_yaml
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from tests.suite.rows import rows

Manifest = dict[str, Any]
DESIGN = Path(__file__).parents[1] / "preflight" / "design-values.yaml"
READ = ["get", "list", "watch"]
DEFAULTS = read_values(None)[0].manifest


def installed(**values: Any) -> dict[str, Manifest]:
    """The injector's objects by kind, with the design's values unless told."""
    told = yaml.safe_dump({"preflight-injector": {"enabled": True, **values}}).encode()
    made = manifests(load_values([("design.yaml", DESIGN.read_bytes()), ("values.yaml", told)], []), "grove-system")
    return {one["kind"]: one for one in made if one["metadata"]["name"] == "preflight-injector"}


def hook(**values: Any) -> Manifest:
    (found,) = installed(**values)["MutatingWebhookConfiguration"]["webhooks"]
    return dict(found)


def test_nothing_is_installed_unless_it_is_asked_for() -> None:
    made = manifests(load_values([("design.yaml", DESIGN.read_bytes())], []), "grove-system")
    assert [one for one in made if "preflight" in one["metadata"]["name"]] == []


def test_the_webhook_is_the_design_s() -> None:
    found = hook()
    printed = {
        "name": "preflight.nvsentinel.nvidia.com",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    assert {key: found[key] for key in printed} == printed
    assert found["clientConfig"]["service"]["path"] == "/mutate-pod"
    (rule,) = found["rules"]
    assert (rule["apiGroups"], rule["apiVersions"], rule["resources"], rule["operations"]) == ([""], ["v1"], ["pods"], ["CREATE"])


def test_namespaces_are_chosen_as_the_design_chooses_them_and_its_own_never_is() -> None:
    key = "kubernetes.io/metadata.name"
    excluded = ["nvsentinel", "kube-system", "kube-public", "kube-node-lease", "grove-system"]
    expressions = [{"key": key, "operator": "In", "values": ["training"]}, {"key": key, "operator": "NotIn", "values": excluded}]
    assert hook()["namespaceSelector"] == {"matchExpressions": expressions}


def test_a_selector_takes_the_place_of_names() -> None:
    labels = {"nvsentinel.nvidia.com/preflight": "enabled"}
    found = hook(namespaceSelector={"matchLabels": labels, "matchExpressions": [{"key": "team", "operator": "Exists"}]})[
        "namespaceSelector"
    ]
    assert found["matchLabels"] == labels
    assert found["matchExpressions"][0] == {"key": "team", "operator": "Exists"}


@pytest.mark.parametrize("selector", [{}, {"matchLabels": {"team": "a"}}])
def test_its_own_namespace_and_excluded_ones_are_never_chosen_by_labels_either(selector: dict[str, Any]) -> None:
    found = hook(namespaceSelector=selector)["namespaceSelector"]
    assert found.get("matchLabels") == selector.get("matchLabels")
    (expression,) = found["matchExpressions"]
    assert (expression["key"], expression["operator"]) == ("kubernetes.io/metadata.name", "NotIn")
    assert {"grove-system", "kube-system"} <= set(expression["values"])


def test_an_empty_list_of_namespaces_chooses_none() -> None:
    assert hook(namespaces=[])["namespaceSelector"]["matchExpressions"][0]["values"] == [""]


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_the_failure_policy_is_that_of_the_values(policy: str) -> None:
    assert hook(webhook={"failurePolicy": policy})["failurePolicy"] == policy


def test_the_injector_reads_the_values_that_are_installed() -> None:
    text = installed(nccl={"loopbackThresholdGBps": 12.0})["ConfigMap"]["data"]["values.yaml"]
    (document,), problems = read_yaml(text, "values.yaml")
    preflight, findings = read_values(document)
    assert (problems, findings) == ([], [])
    assert (preflight.loopback_threshold, preflight.allreduce_threshold) == (12.0, 5.0)


# ADR-026, RBAC: what the design prints, with what keeping a ConfigMap and a watch take besides
RIGHTS = {
    "configmaps": [*READ, "create", "patch", "delete"],
    "pods": READ,
    "workloads": READ,
    "podgroups": READ,
    "events": ["create"],
}


@pytest.mark.parametrize("resource", RIGHTS)
def test_rights_are_the_design_s(resource: str) -> None:
    rules = [rule for rule in installed()["ClusterRole"]["rules"] if resource in rule["resources"]]
    assert {tuple(rule["verbs"]) for rule in rules} == {tuple(RIGHTS[resource])}


def test_only_its_own_config_maps_and_events_are_ever_written() -> None:
    written = {resource for rule in installed()["ClusterRole"]["rules"] if set(rule["verbs"]) - set(READ) for resource in rule["resources"]}
    assert written == {"configmaps", "events"}


def test_a_policy_holds_it_to_the_prefix() -> None:
    spec = installed()["ValidatingAdmissionPolicy"]["spec"]
    (condition,), (validation,) = spec["matchConditions"], spec["validations"]
    assert "system:serviceaccount:grove-system:preflight-injector" in condition["expression"]
    assert validation["expression"] == "request.name.startsWith('preflight-')"
    assert installed()["ValidatingAdmissionPolicyBinding"]["spec"]["policyName"] == "preflight-injector"


@pytest.mark.parametrize("kind", ["Service", "PodDisruptionBudget", "NetworkPolicy"])
def test_what_is_about_its_pods_selects_them(kind: str) -> None:
    objects = installed()
    spec = objects[kind]["spec"]
    selector = spec.get("podSelector") or spec["selector"]
    assert (selector.get("matchLabels") or selector).items() <= objects["Deployment"]["spec"]["template"]["metadata"]["labels"].items()


def test_only_the_ports_that_it_serves_are_open() -> None:
    objects = installed()
    (container,) = objects["Deployment"]["spec"]["template"]["spec"]["containers"]
    (ingress,) = objects["NetworkPolicy"]["spec"]["ingress"]
    assert {one["port"] for one in ingress["ports"]} == {one["name"] for one in container["ports"]} == {"webhooks", "metrics"}


@rows(("name", "default"), [entry for entry in DEFAULTS.items() if entry[0] != "enabled"], ids=str)
def test_a_value_that_is_taken_away_has_the_default_of_the_injector(name: str, default: Any) -> None:
    """`grove install` ended in an internal error."""
    made, as_default = installed(**{name: None}), installed(**{name: default})
    assert made.keys() == as_default.keys()
    assert made["Deployment"]["spec"]["replicas"] == as_default["Deployment"]["spec"]["replicas"]
    assert made["MutatingWebhookConfiguration"] == as_default["MutatingWebhookConfiguration"]


def test_without_a_word_on_whether_it_is_to_be_installed_it_is_not() -> None:
    assert installed(enabled=None) == {}
