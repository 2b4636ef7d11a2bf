"""What lies in a folder and is no input: rules, golden cases, files with a role of their own. Files that are named are always input."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..running import run

SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: NAME}
spec:
  replicas: 1
  template:
    cliques: [{name: a, spec: {roleName: a, replicas: 1, podSpec: {SCHEDULERcontainers: [{name: a, image: "a:1"}]}}}]
"""
CONFIG = """\
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
scheduler: {profiles: [{name: PROFILE}]}
"""
RULE = "rule: house/x\ndoc: x\npatch: Service\ndo: [{op: add, path: /metadata/labels/x, value: y}]\n"
TEMPLATE = "apiVersion: grove.io/v1alpha1\nkind: PodClique\nmetadata: {name: '{{ set.name }}'}\n"


def a_set(name: str = "web", scheduler: str = "") -> str:
    return SET.replace("NAME", name).replace("SCHEDULER", f"schedulerName: {scheduler}, " if scheduler else "")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("d/web.yaml", a_set())


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


PASSED = {
    "values": {"d/values.yaml": "image: a\n"},
    "a list": {"d/list.yaml": "- a\n"},
    "a scalar": {"d/text.yaml": "text\n"},
    "a rule": {"d/house/rules/x.yaml": RULE},
    "a rule without a folder of its own": {"d/house/x.yaml": RULE},
    "a template of a rule": {"d/house/rules/x.yaml": RULE, "d/house/templates/x.yaml": TEMPLATE},
    "a template beside a rule": {"d/house/x.yaml": RULE, "d/house/templates/x.yaml": TEMPLATE},
    "a golden case": {"d/case/input.yaml": a_set(), "d/case/expected.yaml": TEMPLATE, "d/case/options.yaml": "pods: true\n"},
    "a golden case of findings": {"d/case/input.yaml": a_set(), "d/case/expected-findings.yaml": "[]\n"},
}


@pytest.mark.parametrize("files", PASSED.values(), ids=PASSED.keys())
def test_what_is_no_manifest_is_passed_over_with_a_line(files: dict[str, str]) -> None:
    alone = run("compile", "d")
    for path, text in files.items():
        write(path, text)
    both = run("compile", "d", "--strict")
    assert (both.code, both.out) == (0, alone.out)
    assert both.err == f"grove: skipped, since they are not manifests: {', '.join(sorted(files))}\n"


def test_of_many_files_some_are_named() -> None:
    for number in range(9):
        write(f"d/v{number}.yaml", "a: 1\n")
    assert run("compile", "d").err == "grove: skipped, since they are not manifests: d/v0.yaml, d/v1.yaml, d/v2.yaml and 6 more\n"


MEANT = {
    "half a manifest": ("d/half.yaml", "kind: PodCliqueSet\nmetadata: {name: x}\n", "`apiVersion` is missing"),
    "the other half": ("d/half.yaml", "apiVersion: grove.io/v1alpha1\nspec: {}\n", "`kind` is missing"),
    "broken text": ("d/broken.yaml", "a: [1\n", "d/broken.yaml:"),
    "a template without rules": ("d/templates/x.yaml", TEMPLATE, "d/templates/x.yaml:"),
    "an input without expectations": ("d/case/input.yaml", a_set(), "already declared"),
    "a document that is none beside one that is": ("d/two.yaml", a_set("two") + "---\na: 1\n", "`kind` is missing"),
}


@pytest.mark.parametrize(("path", "text", "said"), MEANT.values(), ids=MEANT.keys())
def test_what_may_be_meant_as_a_manifest_is_read(path: str, text: str, said: str) -> None:
    write(path, text)
    ended = run("compile", "d")
    assert (ended.code, said in ended.err, "skipped" in ended.err) == (1, True, False)


@pytest.mark.parametrize("text", [RULE, "a: 1\n", "- a\n"])
def test_a_file_that_is_named_is_input_whatever_is_in_it(text: str) -> None:
    write("d/x.yaml", text)
    for arguments in (("d/x.yaml",), ("d", "d/x.yaml"), ("d/x.yaml", "d")):
        ended = run("compile", *arguments)
        assert (ended.code, "[input/not-an-object]" in ended.err) == (1, True)


def test_a_folder_of_nothing_else_is_a_misuse_that_names_the_files() -> None:
    write("e/values.yaml", "a: 1\n")
    ended = run("compile", "e")
    assert (ended.code, ended.out, "e/values.yaml: not a manifest" in ended.err) == (2, "", True)


def test_a_snapshot_in_the_folder_is_no_input_when_an_option_names_it() -> None:
    write("d/now.yaml", a_set())
    assert run("compile", "d").code == 1
    assert (run("compile", "d", "--snapshot", "d/now.yaml").code, run("compile", "d", "--snapshot", "./d/now.yaml").err) == (0, "")


def test_the_old_sets_in_the_folder_are_no_input_when_an_option_names_them() -> None:
    write("d/old.yaml", a_set())
    assert (run("lint", "d", "--old", "d/old.yaml").code, run("lint", "d").code) == (0, 1)


def test_a_configuration_that_an_option_names_counts_instead_of_those_in_folders() -> None:
    write("d/kai.yaml", a_set("kai", "kai-scheduler").replace("metadata: {", "metadata: {labels: {kai.scheduler/queue: q}, "))
    write("d/config.yaml", CONFIG.replace("PROFILE", "volcano"))
    write("kai.yaml", CONFIG.replace("PROFILE", "kai-scheduler"))
    ended = run("compile", "d", "--config", "kai.yaml")
    assert (ended.code, ended.err) == (0, "grove: using the configuration of kai.yaml, not that of d/config.yaml\n")
    assert run("compile", "d").code == 1


def test_two_configurations_that_are_named_are_a_mistake() -> None:
    write("one.yaml", CONFIG.replace("PROFILE", "volcano"))
    write("two.yaml", CONFIG.replace("PROFILE", "volcano"))
    ended = run("compile", "d", "one.yaml", "--config", "two.yaml")
    assert (ended.code, "input/two-configurations" in ended.err) == (1, True)
