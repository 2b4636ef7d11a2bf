"""The JSON Schemas of what users write: that they are up to date, hold for the built-in rules, and refuse what loading refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

from grove_compiler.source.yaml_reader import read_yaml
from tests.suite.rows import rows
from tools.generate_rule_schemas import FOLDER, schemas

from .test_loading import VALID

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "rules"
MADE = schemas()
VALIDATORS = {name.removesuffix(".schema.json"): Draft7Validator(json.loads(text)) for name, text in MADE.items()}

SHIPPED = {
    "rule": [*ROOT.glob("rules/**/*.yaml"), *EXAMPLES.glob("*/rules/*.yaml"), *EXAMPLES.glob("*/*.yaml")],
    "template": [*ROOT.glob("templates/*.yaml"), *EXAMPLES.glob("*/templates/*.yaml")],
    "part": [*ROOT.glob("templates/parts/*.yaml"), *ROOT.glob("templates/status/*.yaml")],
    "options": [*EXAMPLES.glob("**/options.yaml")],
    "expected-findings": [*EXAMPLES.glob("**/expected-findings.yaml"), *ROOT.glob("tests/features/**/expected-findings.yaml")],
}


def problems(schema: str, text: str) -> list[str]:
    """What the schema says of each document of a text, with the path."""
    documents, unreadable = read_yaml(text, "")
    assert unreadable == []
    return [
        f"{list(error.absolute_path)} {error.message}" for document in documents for error in VALIDATORS[schema].iter_errors(document.value)
    ]


def test_the_schemas_that_ship_are_up_to_date() -> None:
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir() if path.suffix == ".json"} == MADE, (
        "run python -m tools.generate_rule_schemas"
    )


@rows("text", MADE.values(), ids=MADE.keys())
def test_a_schema_is_one(text: str) -> None:
    Draft7Validator.check_schema(json.loads(text))


@rows(("schema", "path"), [(name, path) for name, paths in SHIPPED.items() for path in paths], ids=str)
def test_what_ships_satisfies_its_schema(schema: str, path: Path) -> None:
    assert problems(schema, path.read_text(encoding="utf-8")) == []


@rows("text", [text for verb, text in VALID.items() if verb not in ("decide", "condition")])
def test_what_loading_takes_the_schema_takes(text: str) -> None:
    assert problems("rule", text) == []


PATCH = "rule: a/b\ndoc: D.\npatch: Pod\ndo: "
WRONG: dict[str, tuple[str, str]] = {
    "no verb": ("rule", "rule: a\ndoc: D."),
    "a misspelt verb": ("rule", "rule: a\ndoc: D.\ngenrate: x.yaml"),
    "two verbs": ("rule", "rule: a\ndoc: D.\ngenerate: x.yaml\nevent: Normal\nof: set.ref\nreason: A\nmessage: b"),
    "no documentation": ("rule", "rule: a\npatch: Pod\ndo: [{op: remove, path: /a}]"),
    "an id in capitals": ("rule", "rule: A b\ndoc: D.\npatch: Pod\ndo: [{op: remove, path: /a}]"),
    "an unknown key": ("rule", PATCH + "[{op: remove, path: /a}]\nfore: 1"),
    "an unknown operation": ("rule", PATCH + "[{op: ad, path: /a, value: 1}]"),
    "an operation without its value": ("rule", PATCH + "[{op: add, path: /a}]"),
    "an operation without its path": ("rule", PATCH + "[{op: add, value: 1}]"),
    "a patch that does nothing": ("rule", PATCH + "[]"),
    "a loop that is a list": ("rule", PATCH + "[{op: remove, path: /a}]\nforEach: [a]"),
    "a name that expressions know": ("rule", PATCH + "[{op: remove, path: /a}]\nlet: {none: a}"),
    "an empty expression": ("rule", PATCH + "[{op: remove, path: /a}]\nwhen: ''"),
    "another severity": ("rule", "rule: a\ndoc: D.\nvalidate: create\nassert: true\npath: a\nmessage: b\nseverity: note"),
    "another time": ("rule", "rule: a\ndoc: D.\nvalidate: delete\nassert: true\npath: a\nmessage: b"),
    "another subject": ("rule", "rule: a\ndoc: D.\nvalidate: create\nassert: true\npath: a\nmessage: b\nabout: Pod"),
    "a decision that nobody asks for": ("rule", "rule: a\ndoc: D.\ndecide: nothing\nvalue: 1"),
    "an unknown policy": ("rule", "rule: a\ndoc: D.\ngenerate: a.yaml\npolicy: {adopts: true}"),
    "a template key in a value": ("rule", PATCH + "[{op: add, path: /a, value: {b: {$fi: x}}}]"),
    "a loop in a map": ("rule", "rule: a\ndoc: D.\ndefault: a\nof: PodCliqueSet\nvalue: {$for: a in b}"),
    "conditions of a file without a word about them": ("rule", "when: a"),
    "a head of a file with a loop": ("rule", "rules: A.\nwhen: a\nforEach: {b: c}"),
    "a constant in small letters": ("rule", "constants: {kai: 1}"),
    "a template without a name": ("template", "apiVersion: v1\nkind: Pod"),
    "a template with a guard": ("template", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n$if: a"),
    "a loop without `in`": ("template", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: [{$for: a of b}]"),
    "a template key that is wrong": ("part", "a: [{$fro: a in b}]"),
    "an unknown option": ("options", "namspace: a"),
    "a wrong version": ("options", "kubeVersion: 1.34"),
    "a finding without a code": ("expected-findings", "- {path: a}"),
    "an assert of nothing": ("asserts", "- {has: {}}"),
    "a count without a number": ("asserts", "- {count: {kind: Pod}}"),
    "an object that is a map": ("asserts", "- {object: {kind: Pod}}"),
}


@rows(("schema", "text"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_refused(schema: str, text: str) -> None:
    assert problems(schema, text) != []


def test_a_mistake_is_told_of_the_rule_that_is_meant_and_not_of_all_verbs() -> None:
    (only,) = problems("rule", PATCH + "[{op: ad, path: /a, value: 1}]")
    assert only.startswith("['do', 0, 'op'] 'ad' is not one of")


def test_every_key_has_its_documentation() -> None:
    schema: dict[str, Any] = json.loads(MADE["rule.schema.json"])
    rules = [one for name, one in schema["definitions"].items() if name.endswith("Rule")]
    assert all(key["description"] for rule in rules for key in rule["properties"].values())
