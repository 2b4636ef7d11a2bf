"""What an expression read: through watched documents, through models that remember, and in the parts of conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.codegen.trace_codegen import conjunction
from grove_compiler.engine.sources import RuleSource, Vocabulary
from grove_compiler.engine.tracing.provenance import Trace, Tracer, traced_rules
from grove_compiler.engine.tracing.tracked_model import TrackedModel
from grove_compiler.engine.tracing.tracking import Input, ReadRecorder, TrackedDict, inputs_of, plain, tracked
from grove_compiler.graph.field_path import FieldPath, render
from tests.suite.rows import rows

READ_TRACKER = "follower()"


class lazy(cached_property[Any]):
    """An attribute that is worked out once, as models have them, unless somebody follows who reads it."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        follower = vars(instance).get(READ_TRACKER)
        return follower(instance, self) if follower else super().__get__(instance, owner)


@dataclass(eq=False)
class Ship:
    """A model over a document: thin, lazy and eager at once."""

    manifest: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.manifest["name"])

    @property
    def decks(self) -> list[Deck]:
        decks: list[Deck] = self.all_decks
        return decks

    @lazy
    def all_decks(self) -> list[Deck]:
        return [Deck(self, entry, number) for number, entry in enumerate(self.manifest.get("decks") or [])]

    @property
    def crew(self) -> int:
        return int(self.whole_crew)

    @lazy
    def whole_crew(self) -> int:
        return sum(deck.size for deck in self.all_decks)

    @property
    def flag(self) -> dict[str, Any]:
        return self.manifest.get("flag") or {}


@dataclass(eq=False)
class Deck:
    """A deck; its title is worked out when it is made."""

    ship: Ship = field(repr=False)
    manifest: dict[str, Any]
    number: int
    title: str = field(init=False)
    is_top: bool = field(init=False)

    def __post_init__(self) -> None:
        if READ_TRACKER in vars(self.ship) and READ_TRACKER not in vars(self):
            return  # only made to be copied
        self.title = f"{self.ship.name}-{self.manifest['name']}"
        self.is_top = bool(self.manifest.get("top"))

    @property
    def size(self) -> int:
        return self.manifest.get("size") or 1


SHIP = {
    "name": "argo",
    "flag": {"colour": "red", "old": False, "stripes": [1, {"wide": True}], "nothing": None},
    "decks": [{"name": "upper", "size": 4, "top": True}, {"name": "lower"}],
}

RULE = """
rule: sign/deck
doc: A deck has a sign.
generate: sign.yaml
forEach: {deck: ship.decks}
let: {shout: deck.title | upper}
"""

SIGN = """
apiVersion: v1
kind: Sign
metadata: {name: "{{ deck.title }}"}
spec:
"""


def trace_of(body: str, more: str = "", number: int = 0, ship: Any = None) -> Trace:
    """The trace of the sign of a deck, with this body under `spec`."""
    rules = [RuleSource("rules/a.yaml", RULE + more, "grove"), RuleSource("templates/sign.yaml", SIGN + indented(body), "grove")]
    vocabulary = Vocabulary({"ship": Ship})
    node = build(rules, vocabulary).generate({"ship": Ship(ship or SHIP)}, 9)[number]
    tracer = Tracer(traced_rules(rules, vocabulary), vocabulary, READ_TRACKER)
    trace = tracer.trace(node, {"ship": Ship(tracked(ship or SHIP, tracer.recorder, "doc"))})
    assert {path: plain(found.value) for path, found in trace.fields.items()} == dict(scalars(node.object))
    return trace


def indented(body: str) -> str:
    return "".join(f"  {line}\n" for line in body.strip("\n").split("\n"))


def scalars(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    if isinstance(value, dict | list) and value:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from scalars(part, (*path, key))
    else:
        yield path, value


def inputs(trace: Trace, *path: str | int) -> list[str]:
    """The inputs of a field under `spec`."""
    return [render(one.path) for one in trace.fields["spec", *path].sources[0]]


READS = {
    "a field of the document": ("a: '{{ ship.manifest.name }}'", ["name"]),
    "a property": ("a: '{{ ship.name }}'", ["name"]),
    "text around it": ("a: 'the {{ ship.name }}!'", ["name"]),
    "an attribute that was worked out when the model was made": ("a: '{{ deck.title }}'", ["name", "decks[0].name"]),
    "a boolean of a model": ("a: '{{ deck.is_top }}'", ["decks[0].top"]),
    "an absent field": ("a: '{{ ship.manifest.captain or 1 }}'", ["captain"]),
    "a condition inside an expression": ("a: '{{ 1 if ship.flag.old else 2 }}'", ["flag.old"]),
    "a sum over a list": ("a: '{{ ship.crew }}'", ["decks[0].size", "decks[1].size"]),
    "a filter over a list": ("a: '{{ ship.decks | map(attribute=\"size\") | sum }}'", ["decks[0].size", "decks[1].size"]),
    "a name of the rule": ("a: '{{ shout }}'", ["name", "decks[0].name"]),
    "a name of the template": ("$let: {f: ship.flag.colour | upper}\na: '{{ f }}'", ["flag.colour"]),
    "a count, by way of what is counted": ("a: '{{ ship.decks | length }}'", ["decks[0]", "decks[1]"]),
}


@rows(("body", "found"), READS.values(), ids=READS.keys())
def test_a_field_knows_what_its_expression_read(body: str, found: list[str]) -> None:
    assert sorted(inputs(trace_of(body), "a")) == sorted(found)


@rows(("body", "found"), READS.values(), ids=READS.keys())
def test_it_knows_so_when_everything_was_worked_out_before(body: str, found: list[str]) -> None:
    before = "z: '{{ [ship.name, deck.title, ship.crew, deck.size, shout] | join }}'\n"
    assert sorted(inputs(trace_of(before + body), "a")) == sorted(found)


def test_a_part_of_the_document_that_is_put_in_whole_keeps_every_path() -> None:
    trace = trace_of("a: '{{ ship.flag }}'")
    fields = {render(path): found.sources for path, found in trace.fields.items() if path[:2] == ("spec", "a")}
    assert {path: ([render(one.path) for one in said], direct) for path, (said, direct) in fields.items()} == {
        "spec.a.colour": (["flag.colour"], True),
        "spec.a.old": (["flag.old"], True),
        "spec.a.stripes[0]": (["flag.stripes[0]"], True),
        "spec.a.stripes[1].wide": (["flag.stripes[1].wide"], True),
        "spec.a.nothing": (["flag.nothing"], True),
    }


COPIES = {
    "a filter": "$merge: ship.flag | without('colour')",
    "a merge of two": "$merge: [ship.flag, \"{'more': 1}\"]",
    "a filter over another map": "$merge: \"ship.flag | over({'colour': 1})\"",
}


@pytest.mark.parametrize("body", COPIES.values(), ids=COPIES.keys())
def test_a_boolean_keeps_its_path_through(body: str) -> None:
    assert inputs(trace_of(body), "old") == ["flag.old"]


def test_a_constant_has_no_inputs() -> None:
    assert inputs(trace_of("a: 1"), "a") == []


def test_an_expression_that_reads_nothing_has_no_inputs() -> None:
    assert inputs(trace_of("a: '{{ 1 + 1 }}'"), "a") == []


def test_a_constant_beside_a_loop_variable_rests_on_the_loop() -> None:
    assert inputs(trace_of("a: '{{ 1 if deck.number is defined else 0 }}'"), "a") == ["decks"]


def test_an_empty_list_has_its_line() -> None:
    trace = trace_of("a:\n- $for: x in ship.flag.holes\n  b: 1")
    assert (trace.fields["spec", "a"].value, trace.fields["spec", "a"].origin.line) == ([], 5 + 1)


def test_the_item_of_each_loop_is_told() -> None:
    (loop,) = trace_of("a: 1", number=1).loops
    assert (loop.name, loop.expression, loop.position) == ("deck", "ship.decks", 1)


def test_an_expression_that_left_its_field_out_is_told_with_what_it_read() -> None:
    (omission,) = trace_of("a: '{{ ship.manifest.captain or omit }}'\nb: 1").omissions
    assert (omission.path, [render(one.path) for one in omission.inputs]) == (("spec", "a"), ["captain"])


class TestConditions:
    PATCH = """---
rule: sign/paint
doc: Paint.
patch: Sign
when: {}
do: [{{op: add, path: /spec/paint, value: '{{{{ ship.name }}}}'}}]
"""

    def conditions(self, when: str) -> list[tuple[str, bool, Any]]:
        trace = trace_of("a: 1", self.PATCH.format(when))
        return [(one.text, one.holds, plain(one.subject)) for one in trace.conditions if one.rule == "sign/paint"]

    def test_one_that_holds_is_told(self) -> None:
        assert self.conditions("ship.name == 'argo'") == [("ship.name == 'argo'", True, None)]

    def test_one_that_does_not_is_told_with_what_it_is_about(self) -> None:
        assert self.conditions("ship.name == 'ark'") == [("ship.name == 'ark'", False, "argo")]

    def test_the_parts_of_a_conjunction_are_told_up_to_the_first_that_says_no(self) -> None:
        found = self.conditions("ship.crew > 1 and not ship.flag.colour and ship.flag / 2")
        assert found == [("ship.crew > 1", True, None), ("not ship.flag.colour", False, "red")]

    def test_a_list_of_conditions_is_told_one_by_one(self) -> None:
        assert [holds for _, holds, _ in self.conditions("[ship.crew > 1, ship.crew > 100]")] == [True, False]

    def test_what_it_read_is_told(self) -> None:
        trace = trace_of("a: 1", self.PATCH.format("ship.flag.old"))
        (condition,) = trace.conditions
        assert [render(one.path) for one in condition.inputs] == ["flag.old"]

    def test_the_guard_of_a_part_is_told_with_its_place(self) -> None:
        trace = trace_of("a: {$if: ship.flag.old, b: 1}\nc: 1")
        assert [(one.path, one.holds, one.line) for one in trace.conditions] == [(("spec", "a"), False, 6)]

    def test_a_patch_tells_its_operations(self) -> None:
        trace = trace_of("a: 1", self.PATCH.format("true"))
        assert [(one.rule, one.word, one.path) for one in trace.operations] == [("sign/paint", "add", ("spec", "paint"))]
        assert trace.fields["spec", "paint"].rule == "sign/paint"

    def test_all_items_can_be_asked_without_making_an_object(self) -> None:
        rule = RULE + "when: deck.is_top and deck.size > 9\n"
        sources = [RuleSource("rules/a.yaml", rule, "grove"), RuleSource("templates/sign.yaml", SIGN + "  a: 1\n", "grove")]
        tracer = Tracer(traced_rules(sources, Vocabulary({"ship": Ship})), Vocabulary({"ship": Ship}))
        found = tracer.conditions("sign/deck", {"ship": Ship(SHIP)})
        assert [(one.text, one.holds) for one in found] == [("deck.is_top", True), ("deck.size > 9", False), ("deck.is_top", False)]


CONJUNCTIONS = {
    "a": ["a"],
    "a and b": ["a", "b"],
    "a and (b and c) and d": ["a", "(b and c)", "d"],
    "a or b and c": ["a or b and c"],
    "not a and b": ["not a", "b"],
    "x == 'a and b' and y": ["x == 'a and b'", "y"],
    "x == 'it\\'s and so' and y": ["x == 'it\\'s and so'", "y"],
    "band and sand.and_so": ["band", "sand.and_so"],
    "a and\n  b": ["a", "b"],
    "[a and b] and {'c and d': e}": ["[a and b]", "{'c and d': e}"],
    "(a)and(b)": ["(a)", "(b)"],
    "a and b if c else d": ["a and b if c else d"],
}


@rows(("text", "parts"), CONJUNCTIONS.items(), ids=CONJUNCTIONS.keys())
def test_a_conjunction_has_parts(text: str, parts: list[str]) -> None:
    assert conjunction(text) == parts


class TestModels:
    def model(self) -> tuple[TrackedModel, Ship, Any]:
        """A model, and the copy of it that is read in its place."""
        model = TrackedModel(ReadRecorder(), READ_TRACKER)
        ship = Ship(tracked(SHIP, model.recorder, "doc"))
        return model, ship, model.track(ship, {})

    def read(self, model: TrackedModel, look: Any) -> list[str]:
        return [render(one.path) for one in inputs_of(model.recorder.listen(look)[1])]

    def test_classes_and_instances_stay_what_they_are(self) -> None:
        before = [dict(vars(one)) for one in (Ship, Deck, lazy)]
        model, ship, copy = self.model()
        model.recorder.listen(lambda: [deck.title for deck in copy.decks])
        assert [dict(vars(one)) for one in (Ship, Deck, lazy)] == before
        assert vars(ship).keys() == {"manifest"}

    def test_a_copy_is_an_instance_of_the_same_class(self) -> None:
        _, ship, copy = self.model()
        assert (isinstance(copy, Ship), type(copy) is Ship, copy.name) == (True, False, ship.name)

    def test_what_is_reached_through_a_copy_is_a_copy_always_the_same(self) -> None:
        _, _, copy = self.model()
        deck = copy.decks[1]
        assert (copy.decks[1] is deck, deck.ship is copy, type(deck) is Deck) == (True, True, False)

    def test_a_copy_of_a_copy_is_the_copy(self) -> None:
        model, ship, copy = self.model()
        assert (model.track(ship, {}) is copy, model.track(copy, {}) is copy) == (True, True)

    def test_what_the_instance_had_worked_out_before_is_worked_out_anew(self) -> None:
        model, ship, copy = self.model()
        assert ship.crew == 5
        assert self.read(model, lambda: copy.crew) == ["decks[0].size", "decks[1].size"]

    def test_every_reader_reads_all_of_it(self) -> None:
        model, _, copy = self.model()
        assert [self.read(model, lambda: copy.decks[0].title) for _ in range(2)] == [["name", "decks[0].name"]] * 2

    def test_a_field_that_knows_nothing_rests_on_what_its_instance_was_made_of(self) -> None:
        model, _, copy = self.model()
        assert self.read(model, lambda: copy.decks[1].number) == ["decks"]

    def test_a_tuple_with_names_stays_one(self) -> None:
        model, _, _ = self.model()
        assert model.track(Input("doc", ("a",)), {}) == Input("doc", ("a",))

    def test_an_instance_may_be_said_to_be_an_input_itself(self) -> None:
        model, ship, _ = self.model()
        deck = Deck(ship, {"name": "x"}, 3)
        model.describe(deck, "option", ["number"])
        assert self.read(model, lambda: model.track(deck, {}).number) == ["number"]


LOOKS: list[tuple[Any, list[str]]] = [
    (lambda ship: ship["name"], ["name"]),
    (lambda ship: ship.get("captain"), ["captain"]),
    (lambda ship: "captain" in ship, ["captain"]),
    (lambda ship: ship["flag"]["stripes"][-1]["wide"], ["flag.stripes[1].wide"]),
    (lambda ship: dict(ship["flag"]).keys(), ["flag.colour", "flag.old", "flag.nothing", "flag.stripes"]),
    (lambda ship: {**ship["flag"]}, ["flag.colour", "flag.old", "flag.nothing", "flag.stripes"]),
    (lambda ship: [deck["name"] for deck in ship["decks"]], ["decks[0].name", "decks[1].name"]),
    (lambda ship: ship["flag"]["stripes"][:1], ["flag.stripes[0]"]),
    (lambda ship: len(ship["decks"]), ["decks"]),
]


class TestTracking:
    def read(self, look: Any) -> list[str]:
        recorder = ReadRecorder()
        value = tracked(SHIP, recorder, "doc")
        return [render(one.path) for one in inputs_of(recorder.listen(lambda: look(value))[1])]

    @rows(("look", "found"), LOOKS, ids=range(len(LOOKS)))
    def test_whatever_is_read_is_noted(self, look: Any, found: list[str]) -> None:
        assert self.read(look) == found

    def test_a_tracked_document_is_equal_to_the_document(self) -> None:
        copy = tracked(SHIP, ReadRecorder(), "doc")
        assert (copy, plain(copy), type(plain(copy)["decks"]), type(plain(copy)["name"])) == (SHIP, SHIP, list, str)

    def test_who_listens_to_the_caller_does_not_learn_what_was_read(self) -> None:
        recorder = ReadRecorder()
        ship: TrackedDict = tracked(SHIP, recorder, "doc")
        (_, inner), outer = recorder.listen(lambda: recorder.listen(lambda: ship.get("name")))
        assert (len(inner), outer) == (1, {})

    def test_who_listens_no_longer_learns_nothing_though_it_failed(self) -> None:
        recorder = ReadRecorder()
        ship = tracked(SHIP, recorder, "doc")
        with pytest.raises(KeyError):
            recorder.listen(lambda: ship["captain"])
        assert ship.get("name") == "argo"
        assert recorder.take() == {}
