"""All slices and the rest are what compiling gives, to the letter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from tests.conformance.cases import CONFIGURATION, KUBE_VERSION, Case, read_cases
from tests.conformance.cases import topologies as conformance_topologies
from tests.features.compiling import compile_manifest
from tests.features.random_sets import pod_cliques_sets
from tests.suite.effort import runs
from tests.suite.rows import rows

from .world import Manifest, all_slices, compiled, context, stored, to_the_letter

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*.yaml"))
CASES = sorted(Path(__file__).parents[1].joinpath("features", "cases").iterdir())
CONFIGURATION_KIND = "OperatorConfiguration"


def manifests_of(path: Path) -> list[Manifest]:
    manifests = [one for one in yaml.load_all(path.read_text(), yaml.CSafeLoader) if one]
    return [item for one in manifests for item in (one["items"] if one["kind"] == "List" else [one])]


def assert_slices_are_the_whole(manifests: list[Manifest], chosen: Settings, config: Manifest | None = None) -> None:
    objects = stored([one for one in manifests if one["kind"] != CONFIGURATION_KIND], chosen.namespace)
    written = next((one for one in manifests if one["kind"] == CONFIGURATION_KIND), config)
    document = Document(written) if written else None
    shared = context(chosen, document)
    whole = compiled(objects, shared, document)
    assert not [one.hold for one in whole.subjects if one.hold]
    for _ in range(2):  # once with an empty memory of generations, once with a warm one
        assert to_the_letter(all_slices(objects, shared)) == to_the_letter(whole.graph.nodes)


@rows("path", [path for path in EXAMPLES if "kind: PodCliqueSet" in path.read_text()], ids=lambda path: path.stem)
@rows("pods", [False, True], ids=["without pods", "with pods"])
def test_of_every_example(path: Path, pods: bool) -> None:
    assert_slices_are_the_whole(
        manifests_of(path), Settings(pods=pods), manifests_of(EXAMPLES[0].parent / "operator-configuration.yaml")[0]
    )


@rows("folder", CASES, ids=lambda folder: folder.name)
def test_of_every_feature(folder: Path) -> None:
    parts = {path.stem: manifests_of(path) for path in folder.glob("*.yaml") if path.stem != "settings"}
    assert_slices_are_the_whole([*parts["input"], *parts.get("snapshot", []), *parts.get("config", [])], Settings(pods=True))


# The cases called hash-… hold pod templates that no server takes, and rules hold those.
SOUND = [case for case in read_cases() if not case.rejected and not case.name.startswith("hash-")]


@pytest.mark.skipif(not SOUND, reason="the recorded cases are not there")
@rows("case", SOUND, ids=lambda case: case.name)
def test_of_every_case_of_the_shipped_operator(case: Case) -> None:
    topologies = [json.loads(json.dumps(document.value)) for document in conformance_topologies()]
    chosen = Settings(namespace=case.namespace, pods=True, kube_version=KUBE_VERSION)
    assert_slices_are_the_whole([*case.input, *topologies], chosen, CONFIGURATION)


@settings(max_examples=runs(60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(pod_cliques_sets(), st.booleans(), st.data())
def test_of_random_sets_of_which_something_exists(manifest: Manifest, pods: bool, data: st.DataObject) -> None:
    chosen = Settings(pods=pods)
    made = [json.loads(json.dumps(node.object)) for node in compile_manifest(manifest, Settings(pods=True)).graph.nodes]
    there = data.draw(st.lists(st.sampled_from(made), unique_by=id, max_size=8)) if made else []
    for live in there:
        if "replicas" in live.get("spec", {}) and data.draw(st.booleans()):
            live["spec"]["replicas"] += 1
    assert_slices_are_the_whole([manifest, *there], chosen)
