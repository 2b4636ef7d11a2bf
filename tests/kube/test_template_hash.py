"""The hashes are those of the shipped operator: checked against what it wrote, and against the sums of §7.3.1."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.kube import template_hash
from grove_compiler.kube.template_hash import TemplateError, generation_hash, hashed
from tests.suite.rows import rows

CASES = sorted((Path(__file__).parent / "cases").glob("hash-*.json"))
CHECKOUT = Path(__file__).parents[2]
CONFORMANCE = Path(os.environ.get("GROVE_CONFORMANCE", CHECKOUT.parent / "shared" / "conformance")) / "cases"
ALL_ZERO = "59d9d9d95c8d5676bbc9"

Manifest = dict[str, Any]


def template_of(clique: Manifest, priority_class: str) -> Manifest:
    metadata = {key: clique[key] for key in ("labels", "annotations") if key in clique}
    pod_spec = clique["podSpec"] if "podSpec" in clique else clique["spec"]["podSpec"]
    return {"metadata": metadata, "spec": {**pod_spec, "priorityClassName": priority_class}}


def conformance_sets() -> Iterator[Any]:
    """Each PodCliqueSet that the shipped operator worked on, with all objects of its case."""
    for path in sorted(CONFORMANCE.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        for stored in case.get("objects", []):
            if stored["kind"] == "PodCliqueSet":
                yield pytest.param(stored, case["objects"], id=f"{path.stem}-{stored['metadata']['name']}")


def hashes_written(name: str, clique: str, objects: list[Manifest]) -> set[str]:
    """The labels on the PodCliques of one clique, in and outside scaling groups."""
    return {
        one["metadata"]["labels"]["grove.io/pod-template-hash"]
        for one in objects
        if one["kind"] == "PodClique" and one["metadata"]["name"].startswith(name) and one["metadata"]["name"].endswith(f"-{clique}")
    }


needs_conformance = pytest.mark.skipif(
    not any(CONFORMANCE.glob("*.json")), reason=f"no conformance cases in {CONFORMANCE}; set GROVE_CONFORMANCE"
)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_clique_of_a_case_has_the_hash_that_the_shipped_operator_wrote(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    templates = [template_of(clique, case["priorityClassName"]) for clique in case["cliques"]]
    assert [hashed(template).hash for template in templates] == [clique["podTemplateHash"] for clique in case["cliques"]]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_case_has_the_generation_hash_that_the_shipped_operator_wrote(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    templates = [template_of(clique, case["priorityClassName"]) for clique in case["cliques"]]
    assert generation_hash([hashed(template) for template in templates]) == case["generationHash"]


@needs_conformance
@rows(("stored", "objects"), conformance_sets)
def test_every_conformance_case_has_the_hashes_that_the_shipped_operator_wrote(stored: Manifest, objects: list[Manifest]) -> None:
    template = stored["spec"]["template"]
    templates = [hashed(template_of(one, template.get("priorityClassName", ""))) for one in template["cliques"]]
    written = [hashes_written(stored["metadata"]["name"], one["name"], objects) for one in template["cliques"]]
    assert [labels - {one.hash} for labels, one in zip(written, templates, strict=True)] == [set()] * len(templates)
    assert generation_hash(templates) == stored["status"]["currentGenerationHash"]


def fnv1a(text: str) -> int:
    """The sum by its definition."""
    state = 0xCBF29CE484222325
    for byte in text.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return state


PIECES = st.text(max_size=12) | st.sampled_from(["(string)", "(string) ", "map[", "map[a:b c:d]", "é" * 300, "Name:(string)x}"])


@given(st.lists(PIECES, max_size=60), st.sampled_from([1, 2**10]), st.sampled_from([10, 2**12]))
def test_a_sum_is_fnv1a_however_its_runs_repeat_and_however_few_are_kept(pieces: list[str], most: int, longest: int) -> None:
    text = "(*v1.PodTemplateSpec)" + "".join(pieces * 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template_hash, "_MAX_RUNS", most)
        patch.setattr(template_hash, "_MAX_RUN", longest)
        patch.setattr(template_hash, "dump", lambda _: text)
        assert hashed({}).sum == fnv1a(text)


def test_the_template_in_which_nothing_is_set_has_the_published_hash() -> None:
    assert hashed({}).hash == ALL_ZERO


def test_the_generation_hash_of_one_clique_is_its_pod_template_hash() -> None:
    template = hashed({"metadata": {"labels": {"a": "b"}}})
    assert generation_hash([template]) == template.hash


def test_the_generation_hash_depends_on_the_order_of_cliques() -> None:
    a, b = hashed({"spec": {"nodeName": "a"}}), hashed({"spec": {"nodeName": "b"}})
    assert generation_hash([a, b]) != generation_hash([b, a])


def test_a_generation_without_cliques_has_a_hash() -> None:
    assert generation_hash([])


SAME = [
    ({"spec": {"containers": None}}, {}),
    ({"metadata": {}}, {"spec": {}}),
    ({"spec": {"futureField": {"a": 1}}}, {}),
    ({"spec": {"hostNetwork": False}}, {}),
    ({"spec": {"nodeName": ""}}, {}),
    ({"spec": {"priority": 8.0}}, {"spec": {"priority": 8}}),
    ({"spec": {"overhead": {"cpu": "1000m"}}}, {"spec": {"overhead": {"cpu": 1}}}),
    ({"spec": {"overhead": {"memory": "1.5Gi"}}}, {"spec": {"overhead": {"memory": "1536Mi"}}}),
    ({"metadata": {"labels": {"a": "1", "b": "2"}}}, {"metadata": {"labels": {"b": "2", "a": "1"}}}),
    ({"metadata": {"labels": {"a": None}}}, {"metadata": {"labels": {"a": ""}}}),
    ({"metadata": {"creationTimestamp": "2026-01-31T09:30:00Z"}}, {}),
    ({"spec": {"containers": [None]}}, {"spec": {"containers": [{}]}}),
]

DIFFERENT = [
    ({"spec": {"containers": []}}, {}),
    ({"metadata": {"labels": {}}}, {}),
    ({"spec": {"securityContext": {}}}, {}),
    ({"spec": {"terminationGracePeriodSeconds": 0}}, {}),
    ({"spec": {"hostUsers": False}}, {}),
    ({"spec": {"overhead": {"cpu": "1000"}}}, {"spec": {"overhead": {"cpu": "1e3"}}}),
    ({"spec": {"containers": [{"args": ["a", "b"]}]}}, {"spec": {"containers": [{"args": ["b", "a"]}]}}),
    ({"spec": {"tolerations": [{"key": "a"}]}}, {"spec": {"tolerations": [{"value": "a"}]}}),
]


@rows(("one", "other"), SAME)
def test_templates_that_go_decodes_alike_have_one_hash(one: Manifest, other: Manifest) -> None:
    assert hashed(one).hash == hashed(other).hash


@rows(("one", "other"), DIFFERENT)
def test_templates_that_go_tells_apart_have_two_hashes(one: Manifest, other: Manifest) -> None:
    assert hashed(one).hash != hashed(other).hash


def test_a_template_that_go_could_not_decode_is_refused() -> None:
    with pytest.raises(TemplateError, match=r"a list of v1\.Container must be a list, not an object"):
        hashed({"spec": {"containers": {}}})


def test_a_hash_uses_ten_characters_that_no_word_can_be_made_of() -> None:
    assert set(hashed({"spec": {"nodeName": "a"}}).hash) <= set("456789bcdf")
