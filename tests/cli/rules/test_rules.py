"""`grove rules`: the list, one rule, what rules did, and the check of one's own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_cli import rulebook
from grove_cli.rules import listing
from grove_compiler.compile import VOCABULARY, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.codegen.counting import CountingProgram
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.reader import read_bytes

from ... import shipped
from ...explain.sets import SET_WITH_GROUP as SET
from ..running import ROOT, Ended, assert_clear, run

LABEL = """\
rule: team/label
doc: Every PodClique says its team.
patch: PodClique
do: [{op: add, path: /metadata/labels/team, value: search}]
"""

GANG = """\
rule: podgang/base
doc: Gangs as we like them.
generate: podgang.yaml
forEach: {replica: set.replicas}
with: {gang: base_gang(replica)}
owner: set.ref
"""

NO_SERVICE = "disable: [service/replica]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("set.yaml", SET)
    write("mine/a.yaml", "---\n".join([LABEL, GANG, NO_SERVICE]))
    return tmp_path


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def listed(*arguments: str) -> dict[str, dict[str, Any]]:
    """The rules as JSON, by id."""
    ended = run("rules", *arguments, "-o", "json")
    assert (ended.code, ended.err) == (0, "")
    return {rule["id"]: rule for rule in json.loads(ended.out)}


class TestTheList:
    def test_it_has_every_rule_that_is_written(self) -> None:
        files = sorted((ROOT / "rules").rglob("*.yaml"))
        documents = [document for file in files for document in yaml.load_all(file.read_text(), yaml.CSafeLoader)]
        lives = {document["life"] for document in documents if "life" in document}
        effects = {id for id in listed() if id not in lives and any(id.startswith(f"{life}/") for life in lives)}
        assert listed().keys() - effects - lives == {document["rule"] for document in documents if "rule" in document}
        assert {life for life in lives if life not in listed() and not any(id.startswith(f"{life}/") for id in effects)} == set()

    def test_it_says_where_each_stands(self) -> None:
        rule = listed()["podgang/base"]
        line = (ROOT / rule["file"]).read_text().split("\n")[rule["line"] - 1]
        assert (line, rule["origin"], rule["verb"]) == ("rule: podgang/base", "grove", "generate")

    def test_a_rule_of_the_users_stands_in_the_users_file(self) -> None:
        rule = listed("--rules", "mine")["team/label"]
        assert (rule["file"], rule["line"], rule["origin"]) == ("mine/a.yaml", 1, "mine")

    def test_a_rule_that_replaces_one_says_which(self) -> None:
        shipped, mine = listed()["podgang/base"], listed("--rules", "mine")["podgang/base"]
        assert mine["replaces"] == [f"{shipped['file']}:{shipped['line']}"]

    def test_a_rule_that_replaces_nothing_says_nothing(self) -> None:
        assert listed("--rules", "mine")["team/label"]["replaces"] == []

    def test_a_disabled_rule_is_there_and_says_so(self) -> None:
        rules = listed("--rules", "mine")
        assert [id for id, rule in rules.items() if rule["disabled"]] == ["service/replica"]

    def test_people_see_one_line_a_rule(self) -> None:
        lines = run("rules", "--rules", "mine").out.splitlines()
        assert len(lines) == len(listed("--rules", "mine"))
        assert [line.split("  [")[-1] for line in lines if line.startswith("service/replica")] != []
        assert next(line for line in lines if line.startswith("service/replica")).endswith("[disabled]")
        assert "[replaces rules/podgangs.yaml:" in next(line for line in lines if line.startswith("podgang/base"))


class TestWhatTheyDid:
    def test_each_verb_has_its_own_count(self) -> None:
        rules = listed("--rules", "mine", "-f", "set.yaml")
        ids = ("default/clique-min-available", "podgang/base", "team/label", "podgang/initialized", "service/replica")
        assert [rules[id].get("count") for id in ids] == [1, 2, 4, 4, None]  # two of six PodCliques have the label already

    def test_a_warning_counts_for_its_rule(self) -> None:
        rule = "rule: team/warn\ndoc: W.\nvalidate: create\nforEach: {clique: set.cliques}\nassert: 'false'\npath: spec\n"
        write("mine/b.yaml", rule + "message: no\nseverity: warning\n")
        assert listed("--rules", "mine", "-f", "set.yaml")["team/warn"]["count"] == 2

    def test_counting_changes_no_result(self) -> None:
        book = rulebook.read(["mine"])
        inputs = Inputs(read_bytes(SET.encode(), "set.yaml")[0], settings=Settings(pods=True))
        results = [compile_inputs(inputs, program) for program in (book.build(VOCABULARY), CountingProgram(book.sources(), VOCABULARY))]
        first, second = ([node.object for node in result.graph.nodes] for result in results)
        assert first == second

    def test_the_counts_of_generating_rules_add_up_to_all_objects(self) -> None:
        names = run("compile", "set.yaml", "--pods", "-o", "name").out.split()
        assert sum(rule["count"] for rule in listed("-f", "set.yaml").values() if rule["verb"] == "generate") == len(names)

    def test_they_are_shown_to_people(self) -> None:
        lines = run("rules", "-f", "set.yaml").out.splitlines()
        assert " 2 objects " in next(line for line in lines if line.startswith("podgang/base"))

    def test_wrong_manifests_are_findings(self) -> None:
        write("set.yaml", SET.replace("replicas: 3", "replicaz: 3"))
        ended = run("rules", "-f", "set.yaml")
        assert (ended.code, ended.out) == (1, "")
        assert "replicaz" in ended.err


class TestOneRule:
    def test_it_is_shown_with_its_text_its_template_and_its_patches(self) -> None:
        text = run("rules", "podgang/base", "--rules", "mine").out
        assert "mine/a.yaml:" in text.split("\n")[0]
        assert GANG in text
        assert (ROOT / "templates/podgang.yaml").read_text() in text
        assert "note      replaces rules/podgangs.yaml:" in text
        assert "patched   topology/gangs (rules/topology.yaml:" in text

    def test_as_json_it_says_the_same(self) -> None:
        rule = json.loads(run("rules", "podgang/base", "-o", "json").out)
        assert rule["text"].startswith("rule: podgang/base\n")
        assert rule["templateText"].startswith("apiVersion: scheduler.grove.io/v1alpha1\n")
        assert "topology/gangs" in rule["patches"]

    def test_the_text_of_every_rule_is_the_rule(self, monkeypatch: pytest.MonkeyPatch) -> None:
        list_rules = cache(listing.list_rules)  # which reads all rules, for each of them
        monkeypatch.setattr(listing, "list_rules", lambda book, *_: list_rules(book, shipped.program()))
        for id in listed():
            shown = json.loads(run("rules", id, "-o", "json").out)
            *_, document = yaml.load_all(shown["text"], yaml.CSafeLoader)
            assert document["rule"] == id if "rule" in document else id.startswith(document["life"])

    def test_an_unknown_one_brings_the_nearest(self) -> None:
        ended = run("rules", "podgang/bas")
        assert (ended.code, ended.out) == (1, "")
        assert 'did you mean "podgang/base"?' in ended.err

    def test_half_an_id_brings_the_whole(self) -> None:
        assert 'did you mean "default/termination-delay"?' in run("rules", "termination-delay").err

    def test_a_disabled_one_says_so(self) -> None:
        ended = run("rules", "service/replica", "--rules", "mine")
        assert (ended.code, "is disabled" in ended.err) == (1, True)

    def test_a_disabled_life_says_so(self, tmp_path: Path) -> None:
        ours = tmp_path / "ours"
        ours.mkdir()
        (ours / "ours.yaml").write_text("disable: update/podclique\n")
        ended = run("rules", "lives", "update/podclique", "--rules", str(ours))
        assert (ended.code, ended.out) == (1, "")
        shows = "`grove rules lives update/podclique` without --rules shows it"
        assert ended.err == f"grove: the life 'update/podclique' is disabled; {shows}\n"


def check(*arguments: str) -> Ended:
    return run("rules", "check", "mine", *arguments)


DOUBTS = {
    "a typing error": (LABEL.replace("team/label", "podgang/bases"), "rules/doubtful-id", "podgang/base"),
    "another verb": (LABEL.replace("team/label", "podgang/initialized"), "rules/other-verb", ""),
}


class TestTheCheck:
    def test_rules_that_are_right_are_fine(self) -> None:
        assert check() == (0, "1 file, no problems found\n", "")

    @pytest.mark.parametrize(("rule", "code", "nearest"), DOUBTS.values(), ids=DOUBTS.keys())
    def test_what_is_doubtful_is_a_warning(self, rule: str, code: str, nearest: str) -> None:
        write("mine/a.yaml", rule)
        report = json.loads(check("-o", "json").out)
        (finding,) = report["findings"]
        assert (finding["code"], finding["severity"], finding.get("nearest", ""), report["errors"]) == (code, "warning", nearest, 0)

    def test_a_template_that_no_rule_renders_is_a_warning(self) -> None:
        write("mine/templates/idle.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
        ended = check()
        assert ended.code == 0
        assert "mine/templates/idle.yaml:1: warning: no rule renders the template 'idle.yaml'" in ended.err

    def test_a_template_of_ours_that_is_replaced_but_whose_rule_is_disabled_is_a_warning(self) -> None:
        write("mine/templates/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")
        assert "no rule renders the template 'service.yaml'" in check().err

    def test_with_strict_a_warning_fails(self) -> None:
        write("mine/a.yaml", DOUBTS["another verb"][0])
        assert (check().code, check("--strict").code) == (0, 1)

    def test_all_errors_are_reported_with_their_lines(self) -> None:
        write("mine/a.yaml", LABEL.replace("do:", "doo:") + "---\n" + GANG.replace("base_gang(replica)", "base_gan(replica)"))
        ended = check()
        assert (ended.code, ended.out) == (1, "")
        assert "mine/a.yaml:4" in ended.err
        assert 'did you mean "base_gang"?' in ended.err

    def test_errors_and_warnings_come_together(self) -> None:
        write("mine/a.yaml", LABEL.replace("PodClique", "PodCliqu"))
        write("mine/templates/idle.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
        found = json.loads(check("-o", "json").out)
        assert (found["errors"], found["warnings"]) == (1, 1)

    def test_a_patch_that_changes_nothing_here_is_a_warning(self) -> None:
        same = LABEL.replace("team/label", "team/same").replace(
            "team, value: search", "team, value: search}, {op: test, path: /kind, value: PodClique"
        )
        guarded = LABEL.replace("team/label", "team/guarded").replace("do:", "when: set.name == 'other'\ndo:")
        write("mine/a.yaml", "---\n".join([LABEL, same, guarded]))
        found = json.loads(check("-f", "set.yaml", "-o", "json").out)["findings"]
        assert [(one["code"], one["message"].partition(": ")[2], one["line"]) for one in found] == [
            ("rules/idle-patch", "every object that it selects is like that already", 6),
            ("rules/idle-patch", "it selects none of their objects", 11),
        ]

    def test_patches_are_not_judged_without_manifests_or_by_wrong_ones(self) -> None:
        write("mine/a.yaml", LABEL.replace("do:", "when: set.name == 'other'\ndo:"))
        write("wrong.yaml", SET.replace("kind: PodCliqueSet", "kind: PodCliqueSe"))
        assert check("--strict").code == 0
        ended = check("-f", "wrong.yaml")
        assert (ended.code, "rules/idle-patch" in ended.err) == (1, False)

    def test_several_folders_are_checked_together(self) -> None:
        write("other/a.yaml", LABEL)
        assert run("rules", "check", "mine", "other").code == 0

    def test_the_examples_are_right(self) -> None:
        for folder in sorted((ROOT / "examples" / "rules").iterdir()):
            if folder.is_dir():
                assert run("rules", "check", str(folder), "--strict").code == 0, folder

    def test_a_folder_is_needed(self) -> None:
        assert run("rules", "check").code == 2

    def test_an_unreadable_folder_is_a_misuse(self) -> None:
        assert run("rules", "check", "nowhere").code == 2


HOSTILE = [
    ("rules", "a", "b"), ("rules", ""), ("rules", "\x1b[31m"), ("rules", "a" * 10_000), ("rules", "-f", "nowhere.yaml"),
    ("rules", "check", ""),
    ("rules", "check", "set.yaml"), ("rules", "--rules", "nowhere"), ("rules", "/"), ("rules", "podgang/base", "-f", "mine/a.yaml"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", HOSTILE, ids=[ascii(words)[:40] for words in HOSTILE])
def test_strange_arguments_get_a_sentence(arguments: tuple[str, ...]) -> None:
    assert_clear(run(*arguments))
