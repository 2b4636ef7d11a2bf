"""What is said about sets and rules that are wrong, and that nothing is printed then."""

from __future__ import annotations

import os

import pytest

from ..processes import EXAMPLE, SET, WRONG, Grove


def test_an_error_has_its_place_path_line_and_remedy(grove: Grove) -> None:
    ended = grove("compile", grove.file("a.yaml", WRONG))
    assert ended.code == 1
    first, path, excerpt, caret, remedy, *_, summary = ended.err.splitlines()
    assert first.startswith("a.yaml:6:3: error: ")
    assert (path.strip(), excerpt.strip(), caret.strip()) == ("spec.replcas", "6 |   replcas: 1", "|   ^")
    assert (remedy.strip(), summary) == ('did you mean "replicas"?', "1 error, 1 warning")


@pytest.mark.parametrize("output", ["yaml", "json", "name", "summary"])
def test_with_an_error_nothing_is_printed(grove: Grove, output: str) -> None:
    assert grove("compile", grove.file("a.yaml", WRONG), EXAMPLE, "-o", output).out == ""


def test_errors_of_all_files_are_reported(grove: Grove) -> None:
    ended = grove("compile", grove.file("a.yaml", WRONG), grove.file("b.yaml", "a: ["))
    assert {line.partition(":")[0] for line in ended.err.splitlines() if ": error: " in line} == {"a.yaml", "b.yaml"}


def test_a_warning_is_printed_and_the_objects_too(grove: Grove) -> None:
    ended = grove("compile", "-o", "yaml", "-", stdin=SET + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert ended.code == 0
    assert ended.err.startswith("<stdin>:")
    assert ended.err.endswith("1 warning\n")
    assert ended.out != ""


def test_warnings_fail_when_one_is_strict(grove: Grove) -> None:
    ended = grove("compile", "-", "--strict", stdin=SET + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert (ended.code, ended.out) == (1, "")


def test_wrong_rules_are_reported_like_wrong_manifests(grove: Grove) -> None:
    grove.file("mine/a.yaml", 'rule: my/rule\ndoc: Mine.\nvalidate: [create]\nassert: set.replica > 1\npath: spec\nmessage: "no"\n')
    ended = grove("compile", EXAMPLE, "--rules", "mine")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"{os.path.join('mine', 'a.yaml')}:4")
    assert "replica" in ended.err


def test_a_rule_of_ones_own_reports_what_it_is_for(grove: Grove) -> None:
    rule = "{rule: my/rule, doc: Mine., validate: [create], assert: set.replicas | length > 1, path: spec, message: one is none}"
    grove.file("mine/a.yaml", rule)
    ended = grove("lint", EXAMPLE, "--rules", "mine")
    assert ended.code == 1
    assert "one is none  [my/rule]" in ended.err
