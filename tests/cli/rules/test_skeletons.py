"""`grove rules new` and `grove rules schema`: what users begin with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from grove_cli.rules.skeletons import WORDS

from ...explain.sets import SET_WITH_GROUP
from ..running import ROOT, assert_clear, run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def schema(name: str) -> Draft7Validator:
    ended = run("rules", "schema", name)
    assert ended.code == 0
    return Draft7Validator(json.loads(ended.out))


@pytest.mark.parametrize("what", [word for word in WORDS if word != "case"])
def test_a_skeleton_is_right_as_it_is(what: str) -> None:
    written = run("rules", "new", what, "mine/team-label").out.split()
    assert "mine/rules/team-label.yaml" in written
    assert run("rules", "check", "mine", "--strict")[:2] == (
        0,
        f"{len(written)} file{'s' * (len(written) > 1)}, no problems found\n",
    )
    for path in written:
        text = Path(path).read_text()
        name = text.partition("$schema=")[2].partition(".schema.json")[0]
        assert list(schema(name).iter_errors(yaml.load(text, yaml.CSafeLoader))) == []


def test_a_set_still_compiles_with_all_of_them() -> None:
    for what in WORDS:
        if what not in ("case", "template"):
            assert run("rules", "new", what, f"mine/{what}").code == 0
    Path("set.yaml").write_text(SET_WITH_GROUP)
    ended = run("compile", "set.yaml", "--rules", "mine", "-o", "json")
    assert ended.code == 0
    assert "ConfigMap" in {item["kind"] for item in json.loads(ended.out)["items"]}


def test_a_new_case_passes() -> None:
    assert run("rules", "new", "case", "tests/first").code == 0
    assert run("test", "tests").code == 0
    assert list(schema("asserts").iter_errors(yaml.load(Path("tests/first/asserts.yaml").read_text(), yaml.CSafeLoader))) == []


def test_every_page_that_a_skeleton_names_is_there() -> None:
    written = [path for what in WORDS for path in run("rules", "new", what, f"mine/{what}").out.split()]
    named = {page for path in written for page in re.findall(r"docs/[\w-]+\.md", Path(path).read_text())}
    assert [page for page in named if not (ROOT / page).is_file()] == []


def test_nothing_is_replaced() -> None:
    assert run("rules", "new", "patch", "mine/a").code == 0
    Path("mine/rules/a.yaml").write_text("mine")
    ended = run("rules", "new", "patch", "mine/a")
    assert (ended.code, "already exists" in ended.err, Path("mine/rules/a.yaml").read_text()) == (2, True, "mine")


WRONG = [
    ("new",),
    ("new", "patch"),
    ("new", "pach", "mine/a"),
    ("new", "decide", "mine/a"),
    ("new", "patch", "a"),
    ("new", "patch", "mine/A"),
    ("new", "patch", "mine/a", "b"),
    ("schema",),
    ("schema", "../rule"),
    ("schema", "rules"),
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_misuse_says_what_would_be_right(words: tuple[str, ...]) -> None:
    ended = run("rules", *words)
    assert_clear(ended)
    assert (ended.code, list(Path().iterdir())) == (2, [])
