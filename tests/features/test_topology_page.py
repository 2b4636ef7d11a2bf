"""What docs/topology.md says of rules and objects is true of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs

from .compiling import documents_of, shipped_program

PAGE = (Path(__file__).parents[2] / "docs" / "topology.md").read_text()
FILES = {"rules/topology.yaml", "rules/validation/topology.yaml", "rules/validation/topology-objects.yaml"}


def block(title: str) -> list[Any]:
    """The documents of the YAML that has this head."""
    [text] = re.findall(rf"^```yaml\n# {re.escape(title)}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return documents_of(text)


def test_the_page_lists_every_rule_about_topologies_once_and_no_other() -> None:
    listed = re.findall(r"`((?:validate|topology)/[a-z-]+)` \|", PAGE)
    about = re.compile("validate/configuration-(no-default-)?topology")
    rules = {rule.id for rule in shipped_program().rules if rule.file in FILES or about.match(rule.id)}
    assert sorted(listed) == sorted(rules)


def test_warnings_are_called_so() -> None:
    warnings = {rule.id for rule in shipped_program().rules if rule.verb == "validate" and rule.details["severity"] == "warning"}
    stated = dict(re.findall(r"^\| `(validate/[a-z-]+)` \| (.+) \|$", PAGE, re.MULTILINE))
    assert {rule for rule, text in stated.items() if text.startswith("warning: ")} == warnings & stated.keys()


def test_the_reasons_of_the_condition_are_those_of_its_rule() -> None:
    text = (Path(__file__).parents[2] / "rules" / "topology.yaml").read_text()
    table = PAGE.split("The condition of a set:")[1].split("## ")[0]
    assert set(re.findall(r"\| `(\w+)` \|", table)) == set(re.findall(r"reason: (\w+)", text))


def test_the_objects_on_the_page_are_what_its_input_becomes() -> None:
    [config] = block("configuration")
    result = compile_inputs(Inputs(block("input.yaml"), config=config), shipped_program())
    assert result.diagnostics == []
    made = {(node.object["kind"], node.object["metadata"]["name"]): node.object for node in result.graph.nodes}
    for shown in block("becomes"):
        found = made[shown.value["kind"], shown.value["metadata"]["name"]]
        assert shown_part(found, shown.value) == shown.value


def shown_part(found: Any, shown: Any) -> Any:
    """What is there of the fields that are shown; lists are shown whole."""
    if isinstance(shown, dict) and isinstance(found, dict):
        return {key: shown_part(found[key], value) for key, value in shown.items() if key in found}
    if isinstance(shown, list) and isinstance(found, list) and len(shown) == len(found):
        return [shown_part(left, right) for left, right in zip(found, shown, strict=True)]
    return found
