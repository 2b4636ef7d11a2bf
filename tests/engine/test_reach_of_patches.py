"""Which inputs a patch reaches that names a kind of object: shelves and shops both make cards, whose rules see other names."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.sources import InvalidRules, SubjectNames, Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic
from tests.suite.rows import rows

from .bookshop import VOCABULARY, Shelf, sources

SUBJECTS = Vocabulary(VOCABULARY.roots, subjects={"Shelf": SubjectNames({"it": Shelf}), "Shop": SubjectNames({"owner": dict[str, Any]})})
RULES = [
    "rule: shelf/card\ndoc: A.\nabout: Shelf\ngenerate: shelf.yaml\n",
    "rule: shop/card\ndoc: A.\nabout: Shop\ngenerate: shop.yaml\n",
    "rule: shop/sign\ndoc: A.\nabout: Shop\ngenerate: sign.yaml\n",
]
TEMPLATES = {
    "shelf": "apiVersion: example.com/v1\nkind: Card\nmetadata: {name: shelf}\n",
    "shop": "apiVersion: example.com/v1\nkind: Card\nmetadata: {name: shop}\n",
    "sign": "apiVersion: example.com/v1\nkind: Sign\nmetadata: {name: sign}\n",
}


def patched(keys: str, value: str = "1") -> list[str]:
    """The objects that a patch changes."""
    rule = f"rule: patch/a\ndoc: A.\n{keys}do: [{{op: add, path: /spec/b, value: '{value}'}}]\n"
    made = build(sources([*RULES, rule], TEMPLATES), SUBJECTS)
    nodes = [*made.generate({"it": Shelf("a")}, 9, "Shelf"), *made.generate({"owner": {}}, 9, "Shop")]
    return [node.object["metadata"]["name"] for node in nodes if "spec" in node.object]


def wrong(keys: str) -> list[Diagnostic]:
    with pytest.raises(InvalidRules) as caught:
        patched(keys)
    return caught.value.diagnostics


REACHED = {
    "patch: Card\n": ["shelf"],
    "patch: Sign\n": ["sign"],
    "patch: [Card, Sign]\n": ["shelf", "sign"],
    "patch: Card\nabout: Shop\n": ["shop"],
    "patch: Card\nabout: [Shelf, Shop]\n": ["shelf", "shop"],
    "patch: [Card, shop/card]\n": ["shelf", "shop"],
    "patch: shop/*\n": ["shop", "sign"],
}


@rows("keys", REACHED)
def test_a_kind_means_the_objects_of_the_input_that_the_patch_is_about_else_of_the_first(keys: str) -> None:
    assert patched(keys) == REACHED[keys]


def test_a_patch_need_not_know_the_names_of_other_inputs() -> None:
    assert patched("patch: Card\n", "{{ it.name }}") == ["shelf"]


def test_a_patch_about_an_input_for_which_there_is_no_such_object_is_a_mistake() -> None:
    (found,) = wrong("patch: Sign\nabout: Shelf\n")
    assert found.message == "no rule about Shelf generates 'Sign'"


def test_a_patch_about_an_unknown_input_is_told_the_nearest() -> None:
    found = wrong("patch: Card\nabout: Shelv\n")
    assert "Shelf" in [one.nearest for one in found]


@rows("keys", REACHED)
def test_a_rule_tells_which_patches_change_its_objects(keys: str) -> None:
    rule = f"rule: patch/a\ndoc: A.\n{keys}do: [{{op: add, path: /spec/b, value: '1'}}]\n"
    made = build(sources([*RULES, rule], TEMPLATES), SUBJECTS)
    changed = {rule.id for rule in made.rules if rule.details.get("patches") == ["patch/a"]}
    assert changed == {"shop/sign" if name == "sign" else f"{name}/card" for name in REACHED[keys]}
