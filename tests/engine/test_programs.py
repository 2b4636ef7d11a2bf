"""A compiled program: kept and brought back, the same on every machine, without Jinja2 on a warm start."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource, Vocabulary
from tests.suite.effort import runs
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, VOCABULARY, program, shop

RULES = [
    BOX_RULE,
    CARD_RULE + "owner: shelf.ref\nafter: [box/shelf]\npolicy: {create: only}\nlet: {long: book.pages > 200}\n",
    "rule: patch/long\ndoc: A.\npatch: Card\nwhen: long\ndo: [{op: add, path: /metadata/labels/long, value: 'yes'}]\n",
    "rule: check/pages\ndoc: A.\nvalidate: create\nforEach: {shelf: shelves, book: shelf.books}\nassert: book.pages < 400\n"
    "path: books\nmessage: '{{ book.title }}'\ntype: Invalid value\nseverity: warning\n",
    "rule: default/size\ndoc: A.\ndefault: '{a,b}[*].size'\nof: Thing\nvalue: {w: 1}\nabsent: [0]\n",
    "rule: box/full\ndoc: A.\ncondition: Full\nforEach: {shelf: shelves}\nof: shelf.ref\n"
    "cases: [{status: 'True', reason: A, message: b}]\n",
]
CARD_BODY = CARD + "spec: {tags: '{{ book.tags }}', shelf: {name: '{{ shelf.name }}', books: '{{ shelf.titles | sort }}'}}\n"
MADE = program(RULES, box=BOX, card=CARD_BODY)
DUMP = MADE.dump()


def everything(made: Program) -> str:
    """All that a program says about the shop, as text."""
    scope = shop()
    conditions = [(c.of, c.type, c.status, c.reason, c.message, c.rule) for c in made.conditions(scope)]
    findings = [(f.code, f.severity, f.path, f.message, f.type) for f in made.validate(scope, "create")]
    return repr((made.generate(scope, 100), findings, conditions, made.default("Thing", {"a": [{"size": 0}]}, scope)))


def test_a_program_that_was_kept_says_the_same() -> None:
    assert everything(Program.load(DUMP, VOCABULARY)) == everything(MADE)


def test_a_program_that_was_kept_knows_its_rules() -> None:
    names = ("id", "doc", "verb", "origin", "file", "line", "loops", "after", "details")
    kept = Program.load(DUMP, VOCABULARY).rules
    assert [[getattr(rule, name) for name in names] for rule in kept] == [[getattr(rule, name) for name in names] for rule in MADE.rules]


def test_a_program_that_was_kept_still_knows_its_lines() -> None:
    body = CARD + "spec:\n  a: '{{ book.pages + book.anything }}'\n"
    kept = Program.load(program(CARD_RULE, card=body).dump(), VOCABULARY)
    with pytest.raises(RuleFailure, match=r"^templates/card.yaml:6: "):
        kept.generate(shop(), 9)


def test_a_program_that_was_kept_can_be_kept_again() -> None:
    again = Program.load(DUMP, VOCABULARY).dump()
    assert everything(Program.load(again, VOCABULARY)) == everything(MADE)


BROKEN = {
    "nothing": b"",
    "text": b"hello",
    "a line": b"hello\n",
    "the head alone": DUMP.partition(b"\n")[0],
    "the head and a line break": DUMP.partition(b"\n")[0] + b"\n",
    "the body alone": DUMP.partition(b"\n")[2],
    "the last byte lost": DUMP[:-1],
    "a byte more": DUMP + b"\0",
    "another version": DUMP.replace(b"grove-rules-", b"grove-rules-0", 1),
    "another Python": DUMP.replace(sys.implementation.cache_tag.encode(), b"cpython-27", 1),
    "twice": DUMP + DUMP,
}


@rows("data", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_program_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a program that"):
        Program.load(data, VOCABULARY)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a program that"):
        Program.load(data, VOCABULARY)


@given(st.integers(0, len(DUMP) - 1), st.integers(1, 255))
@settings(max_examples=runs(300))
def test_a_changed_byte_is_found(position: int, change: int) -> None:
    data = bytearray(DUMP)
    data[position] ^= change
    with pytest.raises(ValueError, match="not a program that"):
        Program.load(bytes(data), VOCABULARY)


@given(st.integers(0, len(DUMP) - 1))
def test_a_program_that_is_cut_off_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="not a program that"):
        Program.load(DUMP[:length], VOCABULARY)


SCRIPT = """
from tests.engine.test_programs import DUMP, MADE, RULES, everything
from tests.engine.bookshop import mistakes
import hashlib
wrong = mistakes([rule.replace("when", "wehn").replace("doc", "dco") + "zzz: 1\\nyyy: 2\\n" for rule in RULES])
print(hashlib.sha256(DUMP).hexdigest(), hashlib.sha256(everything(MADE).encode()).hexdigest(), [str(finding) for finding in wrong])
"""


def test_equal_rules_give_equal_bytes_whatever_the_seed_of_hashes() -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(said) == 1


def test_a_program_compiles_any_number_of_inputs() -> None:
    assert everything(MADE) == everything(MADE)


def test_bringing_a_program_back_imports_neither_jinja_nor_the_writers() -> None:
    script = "import sys, grove_compiler.engine.runtime.program; print([n for n in sys.modules if n.startswith(('jinja2', 'yaml'))])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_functions_of_the_vocabulary_are_those_of_the_one_who_loads() -> None:
    made = program(CARD_RULE, card=CARD + "spec: {a: '{{ book.title | shout }}'}")
    quiet = replace(VOCABULARY, functions={**VOCABULARY.functions, "shout": lambda text, times=1: "quiet"})
    assert Program.load(made.dump(), quiet).generate(shop(), 9)[0].object["spec"]["a"] == "quiet"


# -- another kind ------------------------------------------------------------------------------------------------------------------

LIGHTHOUSE_RULES = """
rule: keeper/lamp
doc: Every lamp of a lighthouse has a keeper.
generate: keeper.yaml
forEach: {lamp: house.spec.lamps}
when: lamp.lit
"""
LIGHTHOUSE_TEMPLATE = """
apiVersion: sea.example/v1
kind: Keeper
metadata: {name: "{{ house.metadata.name }}-{{ lamp.name }}"}
"""


def test_less_than_ten_lines_of_rules_for_another_kind_make_the_engine_compile_that_kind() -> None:
    files = [RuleSource("rules/keepers.yaml", LIGHTHOUSE_RULES, "mine"), RuleSource("templates/keeper.yaml", LIGHTHOUSE_TEMPLATE, "mine")]
    assert len([line for text in (LIGHTHOUSE_RULES, LIGHTHOUSE_TEMPLATE) for line in text.split("\n") if line]) < 10
    made = build(files, Vocabulary({"house": dict}))
    lamps = [{"name": "red", "lit": True}, {"name": "green"}, {"name": "white", "lit": True}]
    house = {"kind": "Lighthouse", "metadata": {"name": "skerry"}, "spec": {"lamps": lamps}}
    assert [node.object for node in made.generate({"house": house}, 10)] == [
        {"apiVersion": "sea.example/v1", "kind": "Keeper", "metadata": {"name": "skerry-red"}},
        {"apiVersion": "sea.example/v1", "kind": "Keeper", "metadata": {"name": "skerry-white"}},
    ]
