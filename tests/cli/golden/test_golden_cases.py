"""`grove test`: what it prints and how it ends, for cases that pass, fail, are brought up to date, or are no cases."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from ..running import ROOT, Ended, run

SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: demo}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec: {roleName: web, replicas: 1, podSpec: {containers: [{name: web, image: nginx}]}}
"""
WRONG = SET.replace("replicas: 1\n  template", "replicas: -1\n  template")
LABEL = """\
rule: team/label
doc: Every Service has a label.
patch: Service
do: [{op: add, path: /metadata/labels/team, value: north}]
"""
Files = dict[str, str]
Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Writes a case below `cases/`, in whose parent the command runs."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, files: Files | None = None, **more: str) -> Path:
        folder = tmp_path / "cases" / name
        for file, text in {"input.yaml": SET, **(files or {}), **more}.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    return write


def service(name: str = "demo-0", **labels: str) -> str:
    """What the set's Service is, with other labels besides."""
    own = {
        "app.kubernetes.io/component": "pcs-headless-service",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/name": "demo-0",
        "app.kubernetes.io/part-of": "demo",
        "grove.io/podcliqueset-replica-index": "0",
    }
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "demo", "controller": True, "blockOwnerDeletion": True}
    metadata = {"name": name, "namespace": "default", "labels": {**own, **labels}, "ownerReferences": [owner]}
    selector = {
        key: own[key] for key in ("app.kubernetes.io/managed-by", "app.kubernetes.io/part-of", "grove.io/podcliqueset-replica-index")
    }
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}, sort_keys=False)


ONE = {"options.yaml": "kinds: [Service]\n", "expected.yaml": service()}


def test_a_case_whose_objects_are_as_expected_passes(put: Put) -> None:
    put("one", ONE)
    assert run("test", "cases") == Ended(0, "1 case: 1 passed\n", "")


def test_verbose_names_the_cases_that_passed(put: Put) -> None:
    put("one", ONE)
    assert run("test", "cases", "-v").out == "ok      cases/one\n1 case: 1 passed\n"


def test_a_field_that_differs_is_told_with_its_object_its_path_and_the_line_of_what_was_expected(put: Put) -> None:
    put("one", {**ONE, "expected.yaml": service().replace("publishNotReadyAddresses: true", "publishNotReadyAddresses: false")})
    ended = run("test", "cases")
    assert ended.code == 1
    assert ended.out == (
        "FAILED  cases/one\n    Service/default/demo-0\n"
        "        spec.publishNotReadyAddresses: expected false, found true  cases/one/expected.yaml:20\n1 case: 1 failed\n"
    )


def test_every_difference_is_told_at_once(put: Put) -> None:
    expected = service(team="north").replace("clusterIP: None", "clusterIP: 10.0.0.1") + "---\n" + service("demo-1")
    put("one", {**ONE, "expected.yaml": expected})
    out = run("test", "cases").out
    assert 'metadata.labels.team: missing, expected "north"' in out
    assert 'spec.clusterIP: expected "10.0.0.1", found "None"' in out
    assert "    Service/default/demo-1  missing" in out


def test_an_object_that_nobody_expected_fails_the_case(put: Put) -> None:
    put("one", {"expected.yaml": service()})
    ended = run("test", "cases")
    assert ended.code == 1
    assert "    ServiceAccount/default/demo  not expected\n" in ended.out
    assert "Service/default/demo-0" not in ended.out


def test_the_order_of_documents_and_keys_does_not_matter(put: Put) -> None:
    everything = list(yaml.safe_load_all(run("compile", str(put("one") / "input.yaml")).out))
    put("one", {"expected.yaml": yaml.safe_dump_all(reversed(everything), sort_keys=True)})
    assert run("test", "cases").code == 0


def test_kinds_that_are_not_compared_may_be_anything(put: Put) -> None:
    put("one", {**ONE, "expected.yaml": service() + "---\n" + service().replace("kind: Service", "kind: Other")})
    assert run("test", "cases").code == 0


# -- findings ------------------------------------------------------------------------------------------------------------------

NEGATIVE = "- {code: validate/set-replicas, path: spec.replicas, type: Invalid value, line: 5}\n"


def test_findings_are_compared(put: Put) -> None:
    put("one", {"input.yaml": WRONG, "expected-findings.yaml": NEGATIVE})
    assert run("test", "cases") == Ended(0, "1 case: 1 passed\n", "")


def test_a_finding_in_other_words_is_told(put: Put) -> None:
    put("one", {"input.yaml": WRONG, "expected-findings.yaml": "- code: validate/set-replicas\n  says: must be even\n"})
    ended = run("test", "cases")
    assert ended.code == 1
    assert "    finding validate/set-replicas at spec.replicas\n" in ended.out
    assert 'says: expected "must be even", found "must not be negative' in ended.out
    assert "cases/one/expected-findings.yaml:2" in ended.out


def test_a_finding_that_is_gone_is_told(put: Put) -> None:
    put("one", {"expected-findings.yaml": NEGATIVE})
    assert "finding validate/set-replicas at spec.replicas  missing  cases/one/expected-findings.yaml:1" in run("test", "cases").out


def test_an_error_that_is_not_expected_fails_a_case_of_objects(put: Put) -> None:
    put("one", {**ONE, "input.yaml": WRONG})
    ended = run("test", "cases")
    assert ended.code == 1
    assert "finding validate/set-replicas at spec.replicas  not expected: must not be negative" in ended.out


WARNS = SET.replace("podSpec: {", "podSpec: {hostname: x, ")


def test_a_warning_that_is_not_expected_fails_only_a_strict_case(put: Put) -> None:
    put("lax", {**ONE, "input.yaml": WARNS})
    put("strict", {**ONE, "input.yaml": WARNS, "options.yaml": "kinds: [Service]\nstrict: true\n"})
    ended = run("test", "cases", "-v")
    assert ended.out.startswith("ok      cases/lax\nFAILED  cases/strict\n    finding validate/overwritten-pod-fields")


def test_an_update_is_judged_against_the_old_set(put: Put) -> None:
    old = SET.replace("roleName: web", "roleName: other")
    put("one", {"old.yaml": old, "expected-findings.yaml": "- code: validate/update-clique-role\n"})
    assert run("test", "cases").code == 0


def test_input_that_is_no_yaml_is_a_finding_as_well(put: Put) -> None:
    put("one", {"input.yaml": "a: [", "expected-findings.yaml": "- {code: yaml/syntax, line: 1}\n- {code: input/no-set}\n"})
    assert run("test", "cases") == Ended(0, "1 case: 1 passed\n", "")


# -- what a case is compiled with ------------------------------------------------------------------------------------------------


def test_options_config_and_snapshot_are_used(put: Put) -> None:
    options = 'namespace: team\npods: true\nkinds: [Pod]\nkubeVersion: "1.34"\n'
    config = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
    config += "scheduler: {profiles: [{name: volcano}], defaultProfileName: volcano}\n"
    snapshot = (
        "apiVersion: grove.io/v1alpha1\nkind: PodClique\nmetadata: {name: demo-0-web, namespace: team, uid: u}\nspec: {replicas: 2}\n"
    )
    folder = put("one", {"options.yaml": options, "config.yaml": config, "snapshot.yaml": snapshot})
    assert run("test", "cases", "--update").code == 0
    pods = list(yaml.safe_load_all((folder / "expected.yaml").read_text()))
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


# -- which cases ------------------------------------------------------------------------------------------------------------------


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
    assert """no case is called 'netwrok'; did you mean "network"?""" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"), [([], "Missing argument"), (["none"], "none: no such file or directory"), (["empty"], "empty: no cases here")]
)
def test_a_folder_without_cases_is_misuse(put: Put, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "empty").mkdir()
    ended = run("test", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


# -- cases that cannot be run -------------------------------------------------------------------------------------------------------

BROKEN: dict[str, tuple[Files, str]] = {
    "nothing expected": ({}, "nothing is expected: there is no expected.yaml and no expected-findings.yaml"),
    "a wrong option": ({**ONE, "options.yaml": "kind: [Service]"}, 'did you mean "kinds"?'),
    "a wrong finding": ({"expected-findings.yaml": "- {codes: x}"}, 'did you mean "code"?'),
    "an expectation that is no YAML": ({"expected.yaml": "a: ["}, "cases/one/expected.yaml:1"),
    "an expectation that is no object": ({"expected.yaml": "- a\n- b\n"}, "an expected object is a map"),
    "a file that has another name": ({**ONE, "expected.yml": ""}, 'did you mean "expected.yaml"?'),
    "an empty input": ({**ONE, "input.yaml": "# nothing\n"}, "input.yaml: empty, there is no manifest in it"),
    "rules that are none": ({**ONE, "rules/x.yaml": "rule: x/y\ndoc: z\nasert: true\n"}, "cases/one/rules/x.yaml:1"),
    "rules that are not there": ({**ONE, "options.yaml": "rules: [../none]"}, "cases/none: no such file or directory"),
    "no input": ({**ONE, "input.yaml": "-"}, "there is no input.yaml"),
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


# -- update ---------------------------------------------------------------------------------------------------------------------------


def test_update_writes_what_is_expected_and_then_the_case_passes(put: Put) -> None:
    folder = put("one")
    assert run("test", "cases", "--update") == Ended(0, "updated cases/one: expected.yaml\n1 case: 1 updated\n", "")
    assert (folder / "expected.yaml").read_text() == run("compile", str(folder / "input.yaml")).out
    assert not (folder / "expected-findings.yaml").exists()
    assert run("test", "cases").code == 0


def test_update_writes_findings_where_nothing_can_come_out(put: Put) -> None:
    folder = put("one", {"input.yaml": WRONG})
    assert run("test", "cases", "--update").out == "updated cases/one: expected-findings.yaml\n1 case: 1 updated\n"
    assert not (folder / "expected.yaml").exists()
    assert run("test", "cases").code == 0


def test_update_writes_both_where_there_are_warnings(put: Put) -> None:
    put("one", {"input.yaml": WARNS})
    assert "expected.yaml, expected-findings.yaml" in run("test", "cases", "--update").out
    assert run("test", "cases").code == 0


def test_update_keeps_comments_at_the_head(put: Put) -> None:
    folder = put("one", {**ONE, "expected.yaml": "# why\n# and how\n" + service(team="x")})
    run("test", "cases", "--update")
    assert (folder / "expected.yaml").read_text().startswith("# why\n# and how\napiVersion: v1\n")
    assert run("test", "cases").code == 0


def test_update_leaves_alone_what_holds(put: Put) -> None:
    folder = put(
        "one", {**ONE, "input.yaml": WARNS, "expected-findings.yaml": "- {code: validate/overwritten-pod-fields, says: hostname}\n"}
    )
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert run("test", "cases", "--update") == Ended(0, "1 case: 1 passed\n", "")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_update_does_not_make_an_error_an_expectation(put: Put) -> None:
    folder = put("one", {**ONE, "input.yaml": WRONG})
    ended = run("test", "cases", "--update")
    assert ended.code == 1
    assert "finding validate/set-replicas at spec.replicas  not expected" in ended.out
    assert (folder / "expected.yaml").read_text() == service()


def test_update_writes_only_the_kinds_that_are_compared(put: Put) -> None:
    folder = put("one", {"options.yaml": "kinds: [Service]\n"})
    run("test", "cases", "--update")
    assert [document["kind"] for document in yaml.safe_load_all((folder / "expected.yaml").read_text())] == ["Service"]


# -- reports for programs ---------------------------------------------------------------------------------------------------------------


def three(put: Put) -> None:
    put("fails", {**ONE, "expected.yaml": service(team='<north> & "co"\x7f')})
    put("passes", ONE)
    put("unexpected", {"expected.yaml": service()})


def test_json_holds_every_case_and_every_difference(put: Put) -> None:
    three(put)
    ended = run("test", "cases", "-o", "json")
    report: dict[str, Any] = json.loads(ended.out)
    assert (ended.code, report["counts"]) == (1, {"passed": 1, "failed": 2})
    first, second, _ = report["cases"]
    assert first["differences"] == [
        {
            "subject": "Service/default/demo-0",
            "path": "metadata.labels.team",
            "change": "missing",
            "expected": '<north> & "co"\x7f',
            "file": "cases/fails/expected.yaml",
            "line": 12,
        }
    ]
    assert second == {"name": "cases/passes", "status": "passed"}


def test_junit_is_xml_with_a_failure_for_each_case_that_failed(put: Put) -> None:
    three(put)
    ended = run("test", "cases", "-o", "junit")
    root = ElementTree.fromstring(ended.out)
    cases = {case.attrib["name"]: case for case in root.iter("testcase")}
    assert (ended.code, root.attrib["tests"], root.attrib["failures"], root.attrib["errors"]) == (1, "3", "2", "0")
    assert {case.attrib["classname"] for case in cases.values()} == {"cases"}
    assert [name for name, case in cases.items() if case.find("failure") is not None] == ["fails", "unexpected"]
    failure = cases["fails"].find("failure")
    assert failure is not None
    assert '<north> & \\"co\\"' in (failure.text or "")


def test_a_long_text_is_shown_around_the_first_character_that_differs(put: Put) -> None:
    put(
        "one",
        {
            **ONE,
            "expected.yaml": service(team="x" * 200 + "A" + "y" * 200),
            "rules/l.yaml": LABEL.replace("north", "x" * 200 + "B" + "y" * 200),
        },
    )
    line = next(line for line in run("test", "cases").out.splitlines() if "metadata.labels.team" in line)
    assert "xA" in line
    assert "xB" in line
    assert len(line) < 300


def test_a_terminal_is_told_how_far_a_long_run_has_come(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    from grove_operator.cli import test as command

    put("one", {**ONE, "expected.yaml": service(team="x")})
    put("two", ONE)
    monkeypatch.setattr(command, "INTERVAL", 0.0)
    assert run("test", "cases").err == "0 of 2 cases\n1 of 2 cases, 1 failed\n"


def test_the_cases_of_the_examples_pass() -> None:
    ended = run("test", str(ROOT / "examples"))
    assert (ended.code, ended.err) == (0, ""), ended.out


def test_no_case_is_changed_by_running_it(put: Put, tmp_path: Path) -> None:
    three(put)
    shutil.copytree(tmp_path / "cases", tmp_path / "before")
    run("test", "cases")
    files = sorted(path.relative_to(tmp_path / "cases") for path in (tmp_path / "cases").rglob("*.yaml"))
    assert [file for file in files if (tmp_path / "cases" / file).read_bytes() != (tmp_path / "before" / file).read_bytes()] == []
