"""`grove compile --pass-through`: what is no set is printed, too, where it can be applied."""

from __future__ import annotations

import json

import pytest
import yaml

from ..processes import SET, Grove

OTHERS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {template: {spec: {containers: [{name: a, image: b, envFrom: [{configMapRef: {name: settings}}]}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
---
apiVersion: v1
kind: Namespace
metadata: {name: default}
---
"""


def kinds(text: str) -> list[str]:
    return [document["kind"] for document in yaml.load_all(text, yaml.CSafeLoader)]


def test_other_kinds_are_printed_before_what_needs_them(grove: Grove) -> None:
    ended = grove("compile", "-", "--pass-through", "-o", "yaml", stdin=OTHERS + SET)
    assert (ended.code, ended.err) == (0, "")
    found = kinds(ended.out)
    assert found.index("Namespace") < found.index("ConfigMap") < found.index("Deployment")
    assert found.index("Namespace") < found.index("PodClique")


def test_they_are_printed_as_they_were_given(grove: Grove) -> None:
    printed = list(yaml.load_all(grove("compile", "-", "--pass-through", stdin=OTHERS + SET).out, yaml.CSafeLoader))
    given = list(yaml.load_all(OTHERS, yaml.CSafeLoader))[:-1]
    assert all(manifest in printed for manifest in given)


def test_what_sets_become_is_what_it_is_without_them(grove: Grove) -> None:
    alone = list(yaml.load_all(grove("compile", "-", "-o", "yaml", stdin=SET).out, yaml.CSafeLoader))
    together = json.loads(grove("compile", "-", "--pass-through", "-o", "json", stdin=OTHERS + SET).out)["items"]
    assert [manifest for manifest in together if manifest["kind"] not in ("Deployment", "ConfigMap", "Namespace")] == alone


def test_without_any_set_all_is_passed_on(grove: Grove) -> None:
    assert kinds(grove("compile", "-", "--pass-through", stdin=OTHERS).out) == ["Namespace", "ConfigMap", "Deployment"]


def test_without_the_flag_other_kinds_are_a_warning_each(grove: Grove) -> None:
    ended = grove("compile", "-", stdin=OTHERS + SET)
    assert ended.err.count("[input/ignored]") == 3


def test_an_object_that_a_rule_makes_as_well_is_an_error(grove: Grove) -> None:
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: demo-0, namespace: default}\n---\n"
    ended = grove("compile", "-", "--pass-through", stdin=service + SET)
    assert (ended.code, ended.out) == (1, "")
    assert "Service/default/demo-0 is declared twice" in ended.err


def test_a_manifest_that_is_no_object_is_an_error_with_its_place(grove: Grove) -> None:
    ended = grove("compile", "-", "--pass-through", stdin="kind: Widget\nspec: {}\n---\n" + SET)
    assert (ended.code, ended.out) == (1, "")
    assert "<stdin>:1:1: error" in ended.err


@pytest.mark.parametrize("output", ["name", "summary"])
def test_formats_without_manifests_are_refused(grove: Grove, output: str) -> None:
    ended = grove("compile", "-", "--pass-through", "-o", output, stdin=SET)
    assert ended.code == 2
    assert "requires -o yaml or -o json" in ended.err


JOB = SET.replace("replicas: 1\n  template", "replicas: 1\n  workloadType: Training\n  template", 1)
AUTOSCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: default}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: grove.io/v1alpha1, kind: PodClique, name: demo-0-web}}
---
"""


def test_an_autoscaler_of_a_training_workload_is_refused_though_it_is_passed_on(grove: Grove) -> None:
    ended = grove("compile", "-", "--pass-through", stdin=AUTOSCALER + JOB)
    assert (ended.code, ended.out) == (1, "")
    assert "the HorizontalPodAutoscaler h scales PodClique/demo-0-web" in ended.err


def test_an_autoscaler_of_something_else_is_passed_on_without_a_word(grove: Grove) -> None:
    ended = grove("compile", "-", "--pass-through", "-o", "yaml", stdin=AUTOSCALER.replace("demo-0-web", "other") + JOB)
    assert (ended.code, ended.err) == (0, "")
    assert "HorizontalPodAutoscaler" in kinds(ended.out)
