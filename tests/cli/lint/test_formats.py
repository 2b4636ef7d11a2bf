"""Findings for code scanning and for GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from grove_cli.lint.for_services import as_github, as_sarif
from grove_compiler.graph.diagnostic import Diagnostic

from ...explain.sets import SET_WITH_GROUP as SET
from ..running import run

WRONG = SET.replace("replicas: 3", "replicaz: 3").replace("name: web", 'name: "a,b%c"').replace("type: Resource", "type: Resourze")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("set.yaml").write_text(SET)
    Path("wrong.yaml").write_text(WRONG)


def sarif(*arguments: str, code: int = 1) -> dict[str, Any]:
    ended = run("lint", *arguments, "-o", "sarif")
    assert (ended.code, ended.err) == (code, "")
    log: dict[str, Any] = json.loads(ended.out)
    check_log(log)
    return log


# What SARIF 2.1.0 demands of the parts that we write (sarif-schema-2.1.0.json): per object its properties, each with a type, those
# that must be there marked with `!`. The schema forbids any other property.
LOG = {"$schema": str, "version!": str, "runs!": list}
RUN = {"tool!": dict, "columnKind": str, "results": list}
DRIVER = {"name!": str, "version": str, "semanticVersion": str, "informationUri": str, "rules": list}
RULE = {"id!": str, "name": str, "shortDescription": dict}
RESULT = {"ruleId": str, "ruleIndex": int, "level": str, "message!": dict, "locations": list}
LOCATION = {"physicalLocation": dict, "logicalLocations": list}
PHYSICAL = {"artifactLocation": dict, "region": dict}
REGION = {"startLine": int, "startColumn": int}
LOGICAL = {"fullyQualifiedName": str, "kind": str}


def check_object(value: Any, properties: Mapping[str, type]) -> None:
    known = {name.removesuffix("!"): kind for name, kind in properties.items()}
    assert set(value) <= set(known), set(value) - set(known)
    assert {name[:-1] for name in properties if name.endswith("!")} <= set(value)
    for name, part in value.items():
        assert isinstance(part, known[name]), (name, part)


def check_log(log: dict[str, Any]) -> None:
    """The log against the schema, as far as ours goes."""
    check_object(log, LOG)
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    (run_,) = log["runs"]
    check_object(run_, RUN)
    assert run_["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    driver = run_["tool"]["driver"]
    check_object(driver, DRIVER)
    for rule in driver["rules"]:
        check_object(rule, RULE)
        check_object(rule["shortDescription"], {"text!": str})
    for result in run_["results"]:
        check_object(result, RESULT)
        assert result["level"] in ("none", "note", "warning", "error")
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        check_object(result["message"], {"text!": str})
        for location in result.get("locations", []):
            check_location(location)


def check_location(location: dict[str, Any]) -> None:
    check_object(location, LOCATION)
    if "physicalLocation" in location:
        check_object(location["physicalLocation"], PHYSICAL)
        check_object(location["physicalLocation"]["artifactLocation"], {"uri": str})
        region = location["physicalLocation"].get("region", {"startLine": 1})
        check_object(region, REGION)
        assert min(region.values()) >= 1
    for logical in location.get("logicalLocations", []):
        check_object(logical, LOGICAL)


def finding(**more: Any) -> Diagnostic:
    return Diagnostic(**{"code": "some/code", "severity": "error", "message": "it is wrong", **more})


class TestSarif:
    def test_every_finding_is_a_result(self) -> None:
        (found,) = sarif("wrong.yaml")["runs"]
        plain = json.loads(run("lint", "wrong.yaml", "-o", "json").out)["findings"]
        assert [(one["ruleId"], one["level"]) for one in found["results"]] == [(one["code"], one["severity"]) for one in plain]

    def test_a_result_has_its_place(self) -> None:
        (found,) = sarif("wrong.yaml")["runs"]
        place = found["results"][0]["locations"][0]
        region = place["physicalLocation"]["region"]
        line = WRONG.split("\n")[region["startLine"] - 1]
        assert line[region["startColumn"] - 1 :].startswith("replicaz")
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "wrong.yaml"
        assert place["logicalLocations"][0]["fullyQualifiedName"] == "spec.template.cliques[0].spec.replicaz"

    def test_a_rule_brings_its_documentation(self) -> None:
        (found,) = sarif("wrong.yaml")["runs"]
        docs = {rule["id"]: rule["shortDescription"]["text"] for rule in found["tool"]["driver"]["rules"]}
        rules = {rule["id"]: rule["doc"] for rule in json.loads(run("rules", "-o", "json").out)}
        assert docs["validate/set-name-syntax"] == rules["validate/set-name-syntax"]

    def test_a_check_that_is_no_rule_is_described_by_its_topic(self) -> None:
        (found,) = sarif("wrong.yaml")["runs"]
        docs = {rule["id"]: rule["shortDescription"]["text"] for rule in found["tool"]["driver"]["rules"]}
        assert docs["schema/unknown-field"] == "Manifests must have the structure of their kind."

    def test_without_findings_it_is_an_empty_run(self) -> None:
        assert sarif("set.yaml", code=0)["runs"][0]["results"] == []

    @pytest.mark.parametrize("name", ["a b.yaml", "a%b.yaml", "a#b?.yaml", "ü.yaml", "a:b.yaml", "folder/a.yaml"])
    def test_a_files_name_becomes_a_uri(self, name: str) -> None:
        log = json.loads(as_sarif([finding(file=name, line=1)], {}, {}))
        check_log(log)
        uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert (unquote(uri), uri.isascii(), set(" #?:") & set(uri)) == (name, True, set())

    def test_an_absolute_name_becomes_a_file_uri(self) -> None:
        log = json.loads(as_sarif([finding(file="/a/b.yaml")], {}, {}))
        assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///a/b.yaml"

    def test_a_finding_without_a_place_has_no_location(self) -> None:
        log = json.loads(as_sarif([finding()], {}, {}))
        check_log(log)
        assert "locations" not in log["runs"][0]["results"][0]

    def test_the_message_says_what_would_be_right(self) -> None:
        log = json.loads(as_sarif([finding(path="spec.x", type="Invalid value", nearest="y", hint="write y")], {}, {}))
        text = log["runs"][0]["results"][0]["message"]["text"]
        assert text == 'spec.x: Invalid value: it is wrong; did you mean "y"? (write y)'

    def test_unreadable_yaml_is_a_result_too(self) -> None:
        Path("broken.yaml").write_text("a: [1\nb: }")
        assert sarif("broken.yaml")["runs"][0]["results"]


ESCAPES = {
    "a percent sign": ("100%", "100%25"),
    "a line break": ("a\nb\r\nc", "a%0Ab%0D%0Ac"),
    "another command": ("x\n::set-output name=a::b", "x%0A::set-output name=a::b"),
    "a colon and a comma": ("a: b, c", "a: b, c"),
}


class TestGitHub:
    def test_every_finding_is_one_annotation(self) -> None:
        ended = run("lint", "wrong.yaml", "-o", "github")
        lines = ended.out.splitlines()
        plain = json.loads(run("lint", "wrong.yaml", "-o", "json").out)["findings"]
        assert (ended.code, ended.err, len(lines)) == (1, "", len(plain))
        place, _, message = lines[0].removeprefix("::error ").partition("::")
        assert place == "file=wrong.yaml,line=14,col=11,title=schema/unknown-field"
        assert message.startswith("spec.template.cliques[0].spec.replicaz: ")

    def test_a_warning_is_a_warning(self) -> None:
        assert as_github([finding(severity="warning")], {}) == b"::warning title=some/code::it is wrong\n"

    def test_without_findings_nothing_is_printed(self) -> None:
        assert run("lint", "set.yaml", "-o", "github") == (0, "", "")

    @pytest.mark.parametrize(("message", "escaped"), ESCAPES.values(), ids=ESCAPES.keys())
    def test_a_message_cannot_end_its_command(self, message: str, escaped: str) -> None:
        assert as_github([finding(message=message)], {}).decode() == f"::error title=some/code::{escaped}\n"

    def test_a_files_name_cannot_begin_another_property(self) -> None:
        text = as_github([finding(file="a,line=7:b%.yaml", line=3, column=2)], {}).decode()
        assert text == "::error file=a%2Cline=7%3Ab%25.yaml,line=3,col=2,title=some/code::it is wrong\n"

    def test_a_file_is_called_by_the_name_that_people_know(self) -> None:
        assert b"file=mine/a.yaml" in as_github([finding(file="rules/a.yaml")], {"rules/a.yaml": "mine/a.yaml"})

    def test_with_strict_warnings_fail(self) -> None:
        Path("warn.yaml").write_text(SET + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
        assert (run("lint", "warn.yaml", "-o", "github").code, run("lint", "warn.yaml", "-o", "github", "--strict").code) == (0, 1)
