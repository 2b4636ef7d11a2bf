"""The commands in the head of each example, as a reader would type them: they work, find nothing wrong, and print what they printed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from grove_cli.entry import run

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.yaml") if path.stem != "nodes")  # tests/fit has those of `grove fit`
NAMES = [path.stem for path in EXAMPLES]
OWNERS = re.compile(r"omitted the owners of \d+ objects, which have no UID yet; -o yaml prints them\n")
COMMAND = re.compile(r"^#   grove (.+)$", re.MULTILINE)


class YamlFile(SingleFileSnapshotExtension):
    """A file an example that people and diff tools read like any other manifest."""

    file_extension = "yaml"
    _write_mode = WriteMode.TEXT


def commands(path: Path) -> list[list[str]]:
    """The command lines in an example's head, without `grove`."""
    return [shlex.split(line) for line in COMMAND.findall(path.read_text())]


def objects_command(path: Path) -> list[str]:
    """The first command of an example, made to print every object and its Pods as YAML, and to fail on warnings."""
    command = commands(path)[0]
    return [*command, "--pods", "--strict", "-o", "yaml"]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_an_example_compiles_to_what_it_compiled_to(
    path: Path, snapshot: SnapshotAssertion, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    code = run(objects_command(path))
    printed = capfdbinary.readouterr()
    assert (code, printed.err.decode()) == (0, "")
    assert printed.out.decode() == snapshot(extension_class=YamlFile)


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_every_command_in_the_head_of_an_example_works(path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert commands(path), "no command in the head of the example"
    for command in commands(path):
        code = run(command)
        assert (code, OWNERS.sub("", capfdbinary.readouterr().err.decode())) == (0, "")


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_an_example_compiles_twice_to_the_same_bytes(path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    outputs = []
    for _ in range(2):
        run(objects_command(path))
        outputs.append(capfdbinary.readouterr().out)
    assert outputs[0]
    assert outputs[0] == outputs[1]


def test_all_examples_together_compile_to_the_same_bytes_under_any_hash_seed() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in EXAMPLES]
    command = [sys.executable, "-m", "grove_cli", "compile", *files, "--pods", "--strict", "--mnnvl-shape", "driver"]
    outputs = [
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "4242")
    ]
    assert outputs[0]
    assert outputs[0] == outputs[1]


def test_the_folder_of_examples_compiles_at_once(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    text = (ROOT / "examples" / "operator-configuration.yaml").read_text()
    [line] = re.findall(r"^# grove (lint examples)$", text, re.MULTILINE)
    assert run(shlex.split(line)) == 0
    capfdbinary.readouterr()
    code = run(["compile", "examples", "-o", "json", "--mnnvl-shape", "driver"])
    printed = capfdbinary.readouterr()
    made = {
        item["metadata"]["labels"]["app.kubernetes.io/part-of"] for item in json.loads(printed.out)["items"] if item["kind"] == "Service"
    }
    sets = {
        document["metadata"]["name"]
        for path in EXAMPLES
        for document in yaml.load_all(path.read_text(), yaml.CSafeLoader)
        if document["kind"] == "PodCliqueSet"
    }
    assert (code, made) == (0, sets)
    assert printed.err.count(b"skipped, since they are not manifests") == 1


def test_an_example_prints_yaml_that_other_readers_understand_as_ours_prints_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for path in EXAMPLES:
        run(objects_command(path))
        from_yaml = list(yaml.load_all(capfdbinary.readouterr().out, yaml.CSafeLoader))
        run([*objects_command(path), "-o", "json"])
        assert from_yaml == json.loads(capfdbinary.readouterr().out)["items"]


def test_every_example_begins_with_a_word_on_what_it_shows() -> None:
    silent = [path.name for path in EXAMPLES if not path.read_text().startswith("# ") or len(path.read_text().split("\n#\n")) < 2]
    assert silent == []


def test_no_two_examples_have_a_set_of_the_same_name() -> None:
    sets = [
        (document["metadata"].get("namespace"), document["metadata"]["name"])
        for path in EXAMPLES
        for document in yaml.load_all(path.read_text(), yaml.CSafeLoader)
        if document["kind"] == "PodCliqueSet"
    ]
    assert sorted(map(str, sets)) == sorted(map(str, set(sets)))
