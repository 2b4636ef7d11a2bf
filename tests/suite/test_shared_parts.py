"""What compiled objects share is not changed by a test unseen."""

from __future__ import annotations

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource, Vocabulary
from tests.suite.shared_parts import changed, watch_set

RULE = RuleSource("rules/things.yaml", "{rule: thing/one, doc: There is one thing., generate: thing.yaml}", "grove")
TEMPLATE = RuleSource("templates/thing.yaml", "{apiVersion: v1, kind: Thing, metadata: {name: a}, spec: {parts: [{size: 1}]}}", "grove")


def thing() -> tuple[Program, dict[str, list[dict[str, int]]]]:
    program = build([RULE, TEMPLATE], Vocabulary(roots={}))
    return program, program.generate({}, 10)[0].object["spec"]


def test_a_rendered_object_that_is_only_read_has_changed_nothing() -> None:
    _, spec = thing()
    assert spec == {"parts": [{"size": 1}]} and changed() == []


def test_a_change_of_a_part_that_objects_share_is_found_once() -> None:
    program, spec = thing()
    spec["parts"][0]["size"] = 2
    assert program.generate({}, 10)[0].object["spec"] == spec, "a part that objects do not share would prove nothing"
    assert changed() == ["constants of compiled rules, which all rendered objects share"]
    assert changed() == []


def test_a_change_of_a_cached_set_is_found() -> None:
    manifest = {"metadata": {"name": "demo"}}
    watch_set(manifest)
    manifest["metadata"]["name"] = "other"
    assert changed() == ["the cached PodCliqueSet other"]
