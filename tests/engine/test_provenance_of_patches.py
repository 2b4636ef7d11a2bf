"""What a patch reads of the object so far: it still rests on what made it, and what is handed on is still made by that."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.tracing.provenance import Trace
from tests.suite.rows import rows

from .test_provenance_inputs import inputs, trace_of

BODY = """
a: "{{ ship.name }}"
size: "{{ deck.size }}"
top: "{{ deck.is_top }}"
labels: {kind: sign, colour: "{{ ship.flag.colour }}"}
list: ["{{ ship.name }}", fixed]
flag: "{{ ship.flag }}"
"""

PATCH = """---
rule: sign/paint
doc: Paint.
patch: Sign
do:
"""


def patched(operations: str) -> Trace:
    return trace_of(BODY, PATCH + "".join(f"  {line}\n" for line in operations.strip("\n").split("\n")))


def put(value: str) -> Trace:
    """A patch that puts a value at `spec.new`."""
    return patched(f"- {{op: add, path: /spec/new, value: {value}}}")


READS = {
    "a text": ("'{{ object.spec.a }}'", ["name"]),
    "a text in a text": ("'so {{ object.spec.a }}'", ["name"]),
    "a number that is reckoned with": ("'{{ object.spec.size * 2 }}'", ["decks[0].size"]),
    "a boolean in a condition": ("'{{ 1 if object.spec.top else 2 }}'", ["decks[0].top"]),
    "a map with another over it": ("\"{{ {'x': 1} | over(object.spec.labels) }}\"", ["flag.colour"]),
    "an item of a list": ("'{{ object.spec.list[0] }}'", ["name"]),
    "a list as a whole": ("'{{ object.spec.list | join }}'", ["name"]),
    "a part of the document that was put in whole": ("'{{ object.spec.flag.stripes[0] }}'", ["flag.stripes[0]"]),
    "whether there is an entry": ("\"{{ 'colour' in object.spec.labels }}\"", ["flag.colour"]),
    "a constant": ("'{{ object.spec.labels.kind }}'", []),
    "what is not there": ("\"{{ object.spec.labels.nothing or 'x' }}\"", []),
}


@rows(("value", "found"), READS.values(), ids=READS.keys())
def test_whoever_reads_the_object_reads_what_that_rests_on(value: str, found: list[str]) -> None:
    trace = put(value)
    path = ("new", "colour") if "over" in value else ("new",)
    assert (trace.fields["spec", *path].rule, inputs(trace, *path)) == ("sign/paint", found)


MERGED = "- {op: add, path: /spec/labels, value: {$merge: object.spec.labels, more: '{{ ship.name }}'}}"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("kind", ("sign/deck", "", [])),
        ("colour", ("sign/deck", "{{ ship.flag.colour }}", ["flag.colour"])),
        ("more", ("sign/paint", "{{ ship.name }}", ["name"])),
    ],
)
def test_an_entry_that_is_merged_in_again_is_still_made_by_what_made_it(key: str, said: tuple[str, str, list[str]]) -> None:
    trace = patched(MERGED)
    found = trace.fields["spec", "labels", key]
    assert (found.rule, found.origin.expression, inputs(trace, "labels", key)) == said


def test_a_part_that_is_moved_keeps_its_origins() -> None:
    trace = patched("- {op: add, path: /spec/new, value: '{{ object.spec.flag }}'}\n- {op: remove, path: /spec/flag}")
    assert {found.rule for path, found in trace.fields.items() if path[:2] == ("spec", "new")} == {"sign/deck"}
    assert inputs(trace, "new", "stripes", 1, "wide") == ["flag.stripes[1].wide"]


def test_a_condition_on_the_object_tells_what_it_rests_on() -> None:
    when: Any = "- {when: object.spec.labels.colour == 'red', op: add, path: /spec/new, value: 1}"
    (condition,) = patched(when).conditions
    assert [one.path for one in condition.inputs] == [("flag", "colour")]
