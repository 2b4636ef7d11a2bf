"""Who says an input: the user's line, a default, the schema, the configuration, the command line, or the cluster."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from grove_compiler.compile import VOCABULARY, Inputs
from grove_compiler.engine.sources import InvalidRules, RuleSource
from grove_compiler.engine.tracing.provenance import traced_rules
from grove_compiler.engine.tracing.tracking import Input, plain
from grove_compiler.explain import InputSource
from grove_compiler.explain.input_source import additions, scalars
from grove_compiler.explain.inputs import SETTINGS
from grove_compiler.graph.field_path import parse, render
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from tests.suite.effort import runs

from ..features.random_sets import Manifest, pod_cliques_sets
from .questions import SOURCES, asking, inputs_of
from .sets import SET

CONFIG = """\
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
scheduler:
  defaultProfileName: volcano
  profiles: [{name: volcano}, {name: kai-scheduler}]
initContainer:
  image: registry/init:1
"""


def source_at(path: str, source: str | int = 0, **more: Any) -> InputSource:
    """Who says a field of the first document."""
    with asking(inputs_of(SET, **more)) as question:
        return question.explainer.source_of(Input(source, parse(path)))


WHO = {
    "the user": ("spec.replicas", "file", 2, 6, ""),
    "the user, in a list on one line": (
        "spec.template.cliques[0].spec.podSpec.containers[0].ports[0].containerPort", "file", 80, 18, ""
    ),
    "a default": ("spec.template.cliques[0].spec.minAvailable", "default", 3, 11, "default/clique-min-available"),
    "a default, in a part that it put in": (
        "spec.template.headlessServiceConfig.publishNotReadyAddresses", "default", True, 7, "default/headless-service"
    ),
    "the schema": ("spec.template.cliqueStartupType", "schema", "CliqueStartupTypeAnyOrder", 7, ""),
    "nobody": ("spec.template.priorityClassName", "absent", None, 7, ""),
}  # fmt: skip


@pytest.mark.parametrize(("path", "how", "value", "line", "rule"), WHO.values(), ids=WHO.keys())
def test_it_is_said_by(path: str, how: str, value: Any, line: int, rule: str) -> None:
    found = source_at(path)
    assert (found.kind, found.value, found.file, found.line, found.rule) == (how, value, "set.yaml", line, rule)


def test_a_default_says_what_it_was_found_from() -> None:
    (read,) = source_at("spec.template.cliques[0].spec.minAvailable").inputs
    assert (read.kind, render(read.path), read.value) == ("file", "spec.template.cliques[0].spec.replicas", 3)


def test_a_default_that_read_a_default_says_both() -> None:
    with asking(inputs_of(SET.replace("replicas: 3", "replicas: 3\n          autoScalingConfig: {maxReplicas: 5}"))) as question:
        found = question.explainer.source_of(Input(0, parse("spec.template.cliques[0].spec.autoScalingConfig.minReplicas")))
    assert [(one.kind, render(one.path)) for one in found.inputs] == [("file", "spec.template.cliques[0].spec.replicas")]


def test_the_namespace_comes_from_the_command_line() -> None:
    (read,) = source_at("metadata.namespace", namespace="prod").inputs
    assert (read.kind, render(read.path), read.value) == ("setting", "namespace", "prod")


def test_a_condition_that_kept_a_default_away_is_known() -> None:
    with asking(inputs_of(SET.replace("replicas: 2", "replicas: 2\n  workloadType: Training"))) as question:
        unmet = {render(path): condition.text for path, condition in question.explainer.manifests[0].unmet.items()}
    assert unmet["spec.template.terminationDelay"] == "object.spec.workloadType != 'Training'"


CONFIGURED = {
    "default_scheduler": ["scheduler.defaultProfileName"],
    "init_image": ["initContainer.image"],
    "scheduler_names": ["scheduler.profiles[0].name", "scheduler.profiles[1].name"],
    "topology_enabled": ["topologyAwareScheduling"],
}


@pytest.mark.parametrize(("name", "found"), CONFIGURED.items())
def test_a_value_of_the_configuration_rests_on_its_own_fields(name: str, found: list[str]) -> None:
    with asking(inputs_of(SET, config=CONFIG)) as question:
        tracer = question.explainer.tracer
        config = tracer.model.track(question.explainer.subjects[0].scope["config"], {})
        _, reads = tracer.recorder.listen(lambda: getattr(config, name))
    assert set(found) <= {render(one.path) for one in reads}


def test_what_nobody_configured_is_said_so() -> None:
    with asking(inputs_of(SET)) as question:
        field = question.explainer.object(question.node("PodGang/default/web-0")).trace.fields[
            "metadata", "labels", "grove.io/scheduler-name"
        ]
        said = [question.explainer.source_of(one) for one in field.sources[0]]
    assert [(one.kind, render(one.path), one.line) for one in said if one.kind == "configuration"] == [("configuration", "scheduler", 0)]


def test_a_setting_has_its_value() -> None:
    assert source_at("kube_version", SETTINGS, kube_version="1.34").value == "1.34"


def test_an_item_of_a_list_has_its_place_in_the_list() -> None:
    items = "".join(f"{'- ' if number == 0 else '  '}{line}\n" for number, line in enumerate(SET.splitlines()))
    with asking(inputs_of(f"apiVersion: v1\nkind: List\nitems:\n{items}")) as question:
        assert question.explainer.source_of(Input(0, parse("spec.replicas"))).line == 9


def test_an_unchanged_set_is_asked_about_again_and_gives_the_same() -> None:
    with asking(inputs_of(SET)) as question:
        node = question.node("PodClique/default/web-0-front")
        answers = [question.explainer.object(node).trace.fields for _ in range(2)]
    first, second = ({path: found.sources for path, found in fields.items()} for fields in answers)
    assert first == second


def test_compiling_does_not_import_what_answers() -> None:
    import subprocess

    code = "import grove_cli.compile.command, sys; print([name for name in sys.modules if 'explain' in name or 'tracing' in name])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


ADDED = [
    ({"a": 1}, {"a": 1, "b": 2}, [("b",)]),
    ({"a": None}, {"a": 1}, [("a",)]),
    ({"a": {}}, {"a": {"b": [1]}}, [("a", "b")]),
    ({"a": [{}, {"b": 1}]}, {"a": [{"b": 1}, {"b": 1}]}, [("a", 0, "b")]),
    ({"a": 1}, {"a": 2}, []),
]


@pytest.mark.parametrize(("before", "after", "paths"), ADDED)
def test_what_was_added_is_found(before: Any, after: Any, paths: list[Any]) -> None:
    assert list(additions(before, after)) == paths


@settings(max_examples=runs(8), suppress_health_check=[HealthCheck.too_slow])
@given(pod_cliques_sets())
def test_every_field_of_any_set_is_explained_with_its_value(manifest: Manifest) -> None:
    inputs = Inputs([Document(manifest, "set.yaml")], settings=Settings(pods=True))
    with asking(inputs) as question:
        for node in question.result.graph.nodes:
            answer = question.explainer.object(node)
            assert {path: plain(found.value) for path, found in answer.trace.fields.items()} == dict(scalars(node.object))
            read = {one for found in answer.trace.fields.values() for one in found.sources[0]}
            assert [one for one in read if not question.explainer.source_of(one).name] == []


def test_wrong_rules_are_told_when_they_are_compiled_for_an_explainer() -> None:
    with pytest.raises(InvalidRules):
        traced_rules([*SOURCES, RuleSource("rules/x.yaml", "rule: a/b\nwrong: 1\n", "mine")], VOCABULARY)


TWO_CLIQUES = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: two}
spec:
  replicas: 1
  template:
    priorityClassName: high
    cliques:
      - {name: a, spec: {roleName: a, replicas: 1, podSpec: {containers: [{name: m, image: 'i:1'}]}}}
      - {name: b, labels: {l: b}, spec: {roleName: b, replicas: 1, podSpec: {hostname: h, containers: [{name: m, image: 'i:2'}]}}}
"""


@pytest.mark.parametrize(("own", "other"), [(0, 1), (1, 0)])
def test_the_hash_of_a_clique_rests_on_its_own_template_and_on_no_others(own: int, other: int) -> None:
    with asking(inputs_of(TWO_CLIQUES)) as question:
        answer = question.explainer.object(question.node(f"PodClique/default/two-0-{'ab'[own]}"))
        sources = answer.trace.fields["metadata", "labels", "grove.io/pod-template-hash"].inputs
        named = {render(question.explainer.source_of(one).path) for one in sources}
    image = "spec.template.cliques[{}].spec.podSpec.containers[0].image"
    assert {image.format(own), "spec.template.priorityClassName"} <= named
    assert [
        path for path in named if path.startswith((f"spec.template.cliques[{other}].spec", f"spec.template.cliques[{other}].labels"))
    ] == []
