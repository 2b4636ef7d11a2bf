"""`grove impact` on the command line: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from grove_compiler.source.yaml_writer import write_yaml
from grove_operator.impact_words import number
from tests.benchmarks.workload import manifest as benchmark
from tests.cli.conftest import cache_of_the_session
from tests.cli.running import Ended, run

from .editing import base

__all__ = ["cache_of_the_session"]

IMAGE = {"path": "spec.template.cliques[0].spec.podSpec.containers[0].image", "value": "router:2"}
ROLE = {"path": "spec.template.cliques[0].spec.roleName", "value": "front"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ended(old: str, new: str, *options: str) -> Ended:
    Path("old.yaml").write_text(old)
    Path("new.yaml").write_text(new)
    return run("impact", "old.yaml", "new.yaml", *options)


def edited(*edits: dict[str, Any]) -> str:
    return write_yaml([base(*edits)])


BENCHMARK = benchmark(500)
EDITS = {
    "image": BENCHMARK.replace("engine:1.4.0", "engine:1.5.0"),
    "500 to 550 replicas": benchmark(550),
    "label": BENCHMARK.replace("  namespace: bench\n", "  namespace: bench\n  labels: {team: a}\n"),
}


@pytest.mark.parametrize("new", EDITS.values(), ids=EDITS.keys())
def test_an_edit_of_a_large_set_is_told_in_a_few_lines(new: str, snapshot: SnapshotAssertion) -> None:
    found = ended(BENCHMARK, new)
    assert (found.code, found.err) == (1, "")
    assert found.out == snapshot


def test_groups_are_told_with_their_order(snapshot: SnapshotAssertion) -> None:
    worker = {"path": "spec.template.cliques[2].spec.podSpec.containers[0].image", "value": "engine:2"}
    assert ended(edited(), edited(worker, IMAGE, {"path": "spec.replicas", "value": 4})).out == snapshot


def test_what_restarts_several_at_a_time_is_told_so() -> None:
    worker = {"path": "spec.template.cliques[2].spec.podSpec.containers[0].image", "value": "engine:2"}
    places = ("cliques[0]", "podCliqueScalingGroups[0]")
    budgets = [{"path": f"spec.template.{place}.rollingUpdate", "value": {"maxUnavailable": 2}} for place in places]
    found = ended(edited(*budgets), edited(*budgets, worker, IMAGE))
    assert "clique demo-0-router: 3 pods, at most 2 at a time, each deleted before it is recreated" in found.out
    assert "scaling group demo-0-pd: replicas 0, 1, 2 at most 2 at a time" in found.out
    steps = json.loads(ended(edited(*budgets), edited(*budgets, worker, IMAGE), "-o", "json").out)["sets"][0]["restarts"]
    assert steps[0]["atATime"] == {"demo-0-router": 2, "demo-0-pd": 2}


def test_the_json_holds_all_that_is_known(snapshot: SnapshotAssertion) -> None:
    found = ended(edited({"path": "spec.replicas", "value": 1}), edited({"path": "spec.replicas", "value": 1}, IMAGE), "-o", "json")
    assert json.loads(found.out) == snapshot


CODES = {
    "nothing is edited": ([], 0),
    "an edit that reaches no object": ([{"path": "spec.template.cliques[0].spec.replicas", "value": 5}], 0),
    "an edit that reaches objects": ([IMAGE], 1),
    "an edit that is not allowed": ([ROLE], 2),
    "an edit that is not valid": ([{"path": "spec.replicas", "value": -1}], 2),
}


@pytest.mark.parametrize(("edits", "code"), CODES.values(), ids=CODES.keys())
@pytest.mark.parametrize("output", ["text", "json"])
def test_it_ends_as_kubectl_diff_does(edits: list[dict[str, Any]], code: int, output: str) -> None:
    assert ended(edited(), edited(*edits), "-o", output).code == code


def test_nothing_is_said_in_one_line() -> None:
    assert ended(edited(), edited()).out == "Nothing changes.\n"


def test_an_edit_that_reaches_no_object_says_so() -> None:
    out = ended(edited(), edited({"path": "spec.template.terminationDelay", "value": "1h0m0s"})).out
    assert out.startswith("No object changes.\n")
    assert "no effect on existing objects" in out


def test_what_is_not_allowed_comes_first_with_its_line() -> None:
    found = ended(edited(), edited(ROLE, {"path": "spec.template.cliques[0].spec.replicas", "value": -1}))
    assert found.out == ""
    first = found.err.splitlines()[0]
    assert first.startswith("new.yaml:")
    assert "[validate/update-clique-role]" in first


def test_json_says_that_an_edit_is_not_allowed() -> None:
    report = json.loads(ended(edited(), edited(ROLE), "-o", "json").out)
    assert (report["allowed"], [one["code"] for one in report["forbidden"]], report["sets"]) == (False, ["validate/update-clique-role"], [])


def test_either_side_may_be_standard_input() -> None:
    Path("new.yaml").write_text(edited(IMAGE))
    assert run("impact", "-", "new.yaml", stdin=edited().encode()).code == 1
    assert run("impact", "new.yaml", "-", stdin=edited(IMAGE).encode()).code == 0


def test_both_sides_cannot_be_standard_input() -> None:
    found = run("impact", "-", "-", stdin=b"")
    assert (found.code, "not both" in found.err) == (2, True)


def test_folders_are_compared_set_by_set() -> None:
    for folder, edits in (("old", []), ("new", [IMAGE])):
        Path(folder).mkdir()
        Path(folder, "a.yaml").write_text(edited(*edits))
        Path(folder, "b.yaml").write_text(edited({"path": "metadata.name", "value": "other"}))
    report = json.loads(run("impact", "old", "new", "-o", "json").out)
    assert [one["name"] for one in report["sets"]] == ["demo"]


def test_text_that_is_no_yaml_is_a_finding() -> None:
    found = ended(edited(), "a: [")
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("new.yaml:1:")


def test_a_missing_file_is_named() -> None:
    found = run("impact", "nowhere.yaml", "nowhere-else.yaml")
    assert (found.code, "nowhere.yaml" in found.err) == (2, True)


def test_strict_makes_warnings_errors() -> None:
    other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    assert ended(edited(), edited(IMAGE) + other).code == 1
    assert ended(edited(), edited(IMAGE) + other, "--strict").code == 2


def test_a_user_s_rules_count() -> None:
    rules = Path("own", "rules")
    rules.mkdir(parents=True)
    patch = "rule: own/label\ndoc: A label.\npatch: Service\n"
    patch += "do: [{op: add, path: /metadata/labels/of, value: \"{{ set.labels['app'] }}\"}]\n"
    rules.joinpath("label.yaml").write_text(patch)
    found = ended(edited(), edited({"path": "metadata.labels.app", "value": "x"}), "--rules", "own", "-o", "json")
    assert json.loads(found.out)["sets"][0]["counts"] == {"changed": {"Service": 2, "PodGang": 6}}


@pytest.mark.parametrize(("count", "expected"), [(0, "0 pods"), (1, "1 pod"), (2, "2 pods"), (12345, "12 345 pods")])
def test_numbers_have_their_words(count: int, expected: str) -> None:
    assert number(count, "pod") == expected


LABEL = """
rule: own/label
doc: Services bear a team.
patch: Service
do: [{op: add, path: /metadata/labels/team, value: a}]
"""
RUNTIME = """
rule: own/runtime
doc: Pods that say nothing run in a sandbox.
default: spec.template.cliques[*].spec.podSpec.runtimeClassName
of: PodCliqueSet
value: sandbox
"""


def rules(name: str, *texts: str) -> str:
    Path(name).mkdir()
    Path(name, "own.yaml").write_text("---".join(texts))
    return name


def of_rules(*options: str) -> Ended:
    Path("old.yaml").write_text(edited())
    return run("impact", "old.yaml", *options)


def test_rules_of_ones_own_are_told_by_what_they_change_of_what_runs() -> None:
    found = of_rules("--rules", rules("a", LABEL))
    assert found.code == 1
    assert "    metadata.labels.team\n" in found.out
    assert "Because of" not in found.out


def test_a_rule_that_changes_pods_restarts_them() -> None:
    found = json.loads(of_rules("--rules", rules("a", RUNTIME), "-o", "json").out)
    assert found["sets"][0]["pods"]["restarted"] > 0


def test_the_same_rules_change_nothing() -> None:
    folder = rules("a", LABEL, RUNTIME)
    found = of_rules("--rules", folder, "--old-rules", folder)
    assert (found.code, found.out) == (0, "Nothing changes.\n")


def test_rules_that_are_taken_out_are_told() -> None:
    found = of_rules("--old-rules", rules("a", LABEL))
    assert (found.code, "metadata.labels.team" in found.out) == (1, True)


def test_an_edit_beside_other_rules_is_told_as_a_whole() -> None:
    found = ended(edited(), edited(IMAGE), "--old-rules", rules("a"), "--rules", rules("b", LABEL))
    assert (found.code, "metadata.labels.team" in found.out, "Because of" in found.out) == (1, True, False)


def test_wrong_old_rules_are_told_with_their_place() -> None:
    found = of_rules("--old-rules", rules("a", LABEL.replace("patch:", "pach:")))
    assert (found.code, found.out) == (2, "")
    assert "a/own.yaml:" in found.err


def test_without_an_edit_and_without_rules_there_is_nothing_to_ask() -> None:
    assert of_rules().code == 2
