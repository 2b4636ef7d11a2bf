"""`grove test`: which folders are cases, what they are compiled with, and those that cannot be run."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from ..running import Ended, run
from .cases import LABEL, ONE, Files, Put, service


def test_options_config_and_snapshot_are_used(put: Put) -> None:
    options = 'namespace: team\npods: true\nkinds: [Pod]\nkubeVersion: "1.34"\n'
    config = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
    config += "scheduler: {profiles: [{name: volcano}], defaultProfileName: volcano}\n"
    snapshot = (
        "apiVersion: grove.io/v1alpha1\nkind: PodClique\nmetadata: {name: demo-0-web, namespace: team, uid: u}\nspec: {replicas: 2}\n"
    )
    folder = put("one", {"options.yaml": options, "config.yaml": config, "snapshot.yaml": snapshot})
    assert run("test", "cases", "--update").code == 0
    pods = list(yaml.load_all((folder / "expected.yaml").read_text(), yaml.CSafeLoader))
    assert [(pod["kind"], pod["metadata"]["namespace"], pod["spec"]["schedulerName"]) for pod in pods] == [("Pod", "team", "volcano")] * 2


@pytest.mark.parametrize("way", ["its own folder", "an option", "the command line"])
def test_rules_come_from(way: str, put: Put, tmp_path: Path) -> None:
    files = {**ONE, "expected.yaml": service(team="north")}
    arguments: list[str] = []
    if way == "its own folder":
        files["rules/label.yaml"] = LABEL
    else:
        shared = tmp_path / "shared" / "rules"
        shared.mkdir(parents=True)
        (shared / "label.yaml").write_text(LABEL)
        if way == "an option":
            files["options.yaml"] += "rules: [../../shared]\n"
        else:
            arguments = ["--rules", "shared"]
    put("one", files)
    assert run("test", "cases", *arguments) == Ended(0, "1 case: 1 passed\n", "")


def test_the_rules_of_one_case_are_not_those_of_another(put: Put) -> None:
    put("with", {**ONE, "expected.yaml": service(team="north"), "rules/label.yaml": LABEL})
    put("without", ONE)
    assert run("test", "cases").code == 0


def test_cases_are_found_at_any_depth_and_run_in_order(put: Put) -> None:
    for name in ("b/deep/er", "a", "c"):
        put(name, ONE)
    (put("c") / "README.md").write_text("notes")
    assert [line.split()[-1] for line in run("test", "cases", "-v").out.splitlines()[:-1]] == ["cases/a", "cases/b/deep/er", "cases/c"]


def test_a_folder_that_is_named_twice_is_run_once(put: Put) -> None:
    put("one", ONE)
    assert run("test", "cases", "cases/one", "./cases/").out == "1 case: 1 passed\n"


def test_hidden_folders_hold_no_cases(put: Put) -> None:
    put("one", ONE)
    put(".hidden", {})
    assert run("test", "cases").out == "1 case: 1 passed\n"


@pytest.mark.parametrize(
    ("filters", "chosen"), [(["two"], 1), (["t*"], 2), (["cases/o*"], 1), (["one", "three"], 2), (["e"], 3), (["cases"], 3)]
)
def test_filters_choose_by_part_or_glob(put: Put, filters: list[str], chosen: int) -> None:
    for name in ("one", "two", "three"):
        put(name, ONE)
    arguments = [part for text in filters for part in ("-k", text)]
    assert run("test", "cases", *arguments).out == f"{chosen} case{'s' if chosen > 1 else ''}: {chosen} passed\n"


def test_a_filter_that_chooses_nothing_is_misuse_and_the_nearest_is_named(put: Put) -> None:
    put("network", ONE)
    ended = run("test", "cases", "-k", "netwrok", "-k", "network")
    assert (ended.code, ended.out) == (2, "")
    assert """no case matches 'netwrok'; did you mean "network"?""" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"), [([], "Missing argument"), (["none"], "none: no such file or directory"), (["empty"], "empty: no cases here")]
)
def test_a_folder_without_cases_is_misuse(put: Put, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "empty").mkdir()
    ended = run("test", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


BROKEN: dict[str, tuple[Files, str]] = {
    "nothing expected": ({}, "no expectations: expected.yaml, expected-findings.yaml and asserts.yaml are missing"),
    "a wrong option": ({**ONE, "options.yaml": "kind: [Service]"}, 'did you mean "kinds"?'),
    "a wrong finding": ({"expected-findings.yaml": "- {codes: x}"}, 'did you mean "code"?'),
    "an expectation that is no YAML": ({"expected.yaml": "a: ["}, "cases/one/expected.yaml:1"),
    "an expectation that is no object": ({"expected.yaml": "- a\n- b\n"}, "an expected object is a map"),
    "a file that has another name": ({**ONE, "expected.yml": ""}, 'did you mean "expected.yaml"?'),
    "an empty input": ({**ONE, "input.yaml": "# nothing\n"}, "input.yaml: empty: it contains no manifest"),
    "rules that are none": ({**ONE, "rules/x.yaml": "rule: x/y\ndoc: z\nasert: true\n"}, "cases/one/rules/x.yaml:1"),
    "rules that are not there": ({**ONE, "options.yaml": "rules: [../none]"}, "cases/none: no such file or directory"),
    "no input": ({**ONE, "input.yaml": "-"}, "input.yaml, the manifests to compile, is missing"),
}


@pytest.mark.parametrize(("files", "said"), BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("output", ["text", "json", "junit"])
def test_a_case_that_cannot_be_run_says_why_and_the_others_run(put: Put, files: Files, said: str, output: str) -> None:
    folder = put("one", files)
    if files.get("input.yaml") == "-":
        (folder / "input.yaml").unlink()
    put("two", ONE)
    ended = run("test", "cases", "-v", "-o", output)
    assert ended.code == 2
    assert "internal error" not in ended.err
    if output == "text":
        assert "BROKEN  cases/one" in ended.out
        assert said in ended.out
        assert ended.out.endswith("2 cases: 1 passed, 1 broken\n")
    elif output == "json":
        assert json.loads(ended.out)["counts"] == {"passed": 1, "broken": 1}
    else:
        assert ElementTree.fromstring(ended.out).attrib["errors"] == "1"


def test_a_mistake_in_rules_that_cases_share_is_told_once(put: Put, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.yaml").write_text("rule: x/y\ndoc: z\npatch: Servce\ndo: [{op: remove, path: /spec}]\n")
    put("one", ONE)
    put("two", ONE)
    ended = run("test", "cases", "--rules", "mine")
    assert ended.code == 2
    assert ended.out.count("mine/x.yaml:3") == 1
