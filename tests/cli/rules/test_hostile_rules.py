"""Rules of users that fail where they run, or are no rules at all: told with file and line, in time, and without a traceback."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grove_compiler.engine.runtime import cost_budget

from ...explain.sets import SET_WITH_GROUP as SET
from ..running import assert_clear, run

ID = "rule: x/a\ndoc: d\n"
LABEL = "/metadata/labels/x"


def patched(operation: str, more: str = "") -> dict[str, str]:
    return {"rules/a.yaml": f"{ID}patch: PodClique\n{more}do: [{{{operation}}}]\n"}


def labelled(value: str, more: str = "") -> dict[str, str]:
    return patched(f'op: add, path: {LABEL}, value: "{value}"', more)


def made(template: str, loop: str = "set.replicas") -> dict[str, str]:
    rule = f"{ID}generate: t.yaml\nforEach: {{one: {loop}}}\n"
    return {"rules/a.yaml": rule, "templates/t.yaml": f"apiVersion: v1\nkind: ConfigMap\n{template}\n"}


WRONG = {
    "a name taken away": (patched("op: remove, path: /metadata/name"), "a.yaml:3", "leaves none in metadata.name"),
    "a name that is a number": (
        patched("op: replace, path: /metadata/name, value: '{{ 7 }}'"), "a.yaml:3", "leaves a number in metadata.name",
    ),
    "a kind taken away": (patched("op: remove, path: /kind"), "a.yaml:3", "leaves none in kind"),
    "metadata that is null": (patched("op: replace, path: /metadata, value: null"), "a.yaml:3", "leaves none in metadata.name"),
    "a name that is left out": (made("metadata: {name: '{{ omit }}'}"), "a.yaml:3", "leaves none in metadata.name"),
    "a list of cliques": (labelled("{{ set.cliques }}"), "a.yaml:4", "a CliqueTemplate cannot be part of a manifest"),
    "a clique in a list of who knows what": (labelled("{{ [clique.name] + [clique] }}"), "a.yaml:4", "Clique cannot be part of a manifest"),
    "loops over loops": (
        patched(f"op: add, path: {LABEL}, value: a, forEach: {{i: range(100000), j: range(100000)}}"), "a.yaml:4", "takes more than",
    ),
    "a loop of a million": (made("metadata: {name: '{{ one }}'}", "range(1000000)"), "a.yaml:4", "too many numbers"),
    "a long text": (labelled("{{ clique.name * 10000000000 }}"), "a.yaml:4", "makes more than"),
    "a large power": (labelled("{{ 9 ** 99999999 }}"), "a.yaml:4", "is out"),
    "division by zero": (labelled("{{ 1 / (clique.replicas - clique.replicas) }}"), "a.yaml:4", "division by zero"),
    "a pattern made of data": (labelled("a", "when: clique.name is match('(' ~ clique.name)\n"), "a.yaml:4", "is not a regular expression"),
    "what is not there, replaced": (patched("op: replace, path: /spec/podSpec/hostname, value: a"), "a.yaml:4", "hostname"),
    "a test that fails": (patched("op: test, path: /spec/replicas, value: 99"), "a.yaml:4", "expected"),
    "a way through a number": (patched("op: add, path: /spec/replicas/x, value: 1"), "a.yaml:4", "replicas"),
    "none inside of text": (labelled("x-{{ clique.template.min_available }}", "when: false or true\n"), "", ""),
    "names that need each other": (labelled("{{ a }}", "let: {a: b, b: a}\n"), "a.yaml:4", "unknown name 'b'"),
    "a deep expression": (labelled("a", f"when: {'(' * 3000}1{')' * 3000}\n"), "a.yaml:4", "nested too deeply"),
    "an alias of itself": ({"rules/a.yaml": f"{ID}patch: PodClique\ndo: &d [*d]\n"}, "a.yaml:4", "never end"),
    "an id that is there twice": (
        {"rules/a.yaml": "---\n".join(patched(f"op: add, path: {LABEL}, value: {one}")["rules/a.yaml"] for one in "ab")},
        "a.yaml:6",
        "x/a",
    ),
    "unknown ids": ({"rules/a.yaml": "disable: [no/such, service/replicaa]\n"}, "a.yaml:1", "no/such"),
    "no UTF-8": ({"rules/a.yaml": "rule: \udcff\n"}, "a.yaml", "not UTF-8"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cost_budget, "MAX_STEPS", cost_budget.MAX_STEPS // 10)  # so that what has no end is quick
    (tmp_path / "set.yaml").write_text(SET)
    return tmp_path


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path("mine", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


COMMANDS = (("rules", "check", "mine", "-f", "set.yaml"), ("compile", "set.yaml", "--rules", "mine"))


@pytest.mark.parametrize(("files", "place", "words"), WRONG.values(), ids=WRONG)
def test_it_is_told_where_it_stands(files: dict[str, str], place: str, words: str) -> None:
    write(files)
    for command in COMMANDS:
        started = time.monotonic()
        ended = run(*command)
        assert_clear(ended)
        assert bool(ended.code) is bool(place)
        assert f"mine/rules/{place}" in ended.err or not place
        assert words in ended.err
        assert time.monotonic() - started < 60


def test_problems_of_several_files_are_told_at_once() -> None:
    write({"rules/a.yaml": "rule: 7\n---\nrule: x/b\n---\ndisable: 3\n", "rules/b.yaml": labelled("{{ nothing }}")["rules/a.yaml"]})
    ended = run(*COMMANDS[1])
    assert_clear(ended)
    assert {line.split(" ")[0] for line in ended.err.splitlines() if ": error: " in line} == {
        "mine/rules/a.yaml:1:", "mine/rules/a.yaml:3:", "mine/rules/a.yaml:5:", "mine/rules/b.yaml:4:",
    }  # fmt: skip


def test_a_rule_that_fails_for_one_set_of_two_leaves_the_other_s_objects_unprinted_but_not_unjudged() -> None:
    """The command line prints all or nothing; in a cluster each set is a step of its own (`tests/step`)."""
    write(labelled("{{ [1][clique.replicas * 100] }}", "when: set.name == 'web'\n"))
    other = SET.replace("name: web\n", "name: other\n").replace("replicas: 2\n", "replicas: -2\n", 1)
    Path("set.yaml").write_text(f"{SET}---\n{other}")
    ended = run("compile", "set.yaml", "--rules", "mine")
    assert_clear(ended)
    assert (ended.code, ended.out) == (1, "")
    assert "must be greater" in ended.err or "spec.replicas" in ended.err


def test_what_cannot_be_a_file_of_rules_by_its_name_is_left_alone() -> None:
    write(labelled("a"))
    os.symlink("..", "mine/rules/up")
    os.mkfifo("mine/rules/pipe")
    Path("mine/rules/folder").mkdir()
    Path("mine/rules/.draft.yaml").mkdir()
    assert run("compile", "set.yaml", "--rules", "mine").code == 0


NO_FILES: dict[str, Callable[[Path], object]] = {
    "mine/rules/a.yaml": Path.mkdir,
    "mine/a.yml": Path.mkdir,
    "mine/templates/parts/a.yaml": lambda path: path.mkdir(parents=True),
    "mine/rules/link.yaml": lambda path: path.symlink_to("."),
    "mine/rules/pipe.yaml": os.mkfifo,
    "mine/templates": Path.touch,
}


@pytest.mark.parametrize("path", NO_FILES)
def test_what_has_the_name_of_a_file_of_rules_and_is_none_is_named(path: str) -> None:
    """Else its rules, which somebody has put there, would be missing in silence."""
    write({"rules/first.yaml": labelled("a")["rules/a.yaml"]})
    NO_FILES[path](Path(path))
    ended = run("compile", "set.yaml", "--rules", "mine")
    assert_clear(ended)
    assert (ended.code, f"{path}: expected a f" in ended.err) == (2, True), ended.err


def test_a_folder_with_rules_may_have_any_name() -> None:
    write({"rules/team.yaml/a.yaml": labelled("of-team")["rules/a.yaml"]})
    assert "x: of-team" in run("compile", "set.yaml", "--rules", "mine").out


@pytest.mark.parametrize("leads", ["nowhere.yaml", "link.yaml"])
def test_a_link_that_leads_nowhere_is_named(leads: str) -> None:
    write(labelled("a"))
    os.symlink(leads, "mine/rules/link.yaml")
    ended = run("compile", "set.yaml", "--rules", "mine")
    assert_clear(ended)
    assert (ended.code, "mine/rules/link.yaml: " in ended.err) == (2, True)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n---\n"])
def test_a_file_without_rules_is_fine(text: str) -> None:
    write({"rules/a.yaml": text})
    assert run("compile", "set.yaml", "--rules", "mine").code == 0
