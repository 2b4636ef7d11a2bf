"""Cases as data: a pod, values and what exists; the checks it gets, what they are given, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonpatch
import pytest
import yaml

from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.preflight import Injection
from grove_compiler.unknown import Unknown
from tests.suite.rows import rows

from .injecting import inject_pod, pod_of

FOLDER = Path(__file__).parent / "cases"
READ = [(file.stem, case) for file in sorted(FOLDER.glob("*.yaml")) for case in yaml.load(file.read_text(), yaml.CSafeLoader)]
CASES = [pytest.param(case, id=f"{topic}: {case['case']}") for topic, case in READ]
ADMITTED = [pytest.param(case, id=f"{topic}: {case['case']}") for topic, case in READ if "refused" not in case]
KEYS = {"case", "values", "exists", "unknown", "labels", "annotations", "pod"}
EXPECTATIONS = {
    "limits",
    "requests",
    "volumes",
    "claims",
    "variables",
    "mounts",
    "container",
    "checks",
    "order",
    "gang",
    "pull-secrets",
    "says",
    "refused",
}


class PartlyKnown(ObjectList):
    """A view that has not listed some kinds yet."""

    def __init__(self, objects: list[dict[str, Any]], unknown: list[str]) -> None:
        super().__init__(objects)
        self._unknown = unknown

    def get(self, group: str, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        if kind in self._unknown:
            raise Unknown(f"{kind} was not listed")
        return super().get(group, kind, namespace, name)


def injected(case: dict[str, Any]) -> Injection:
    view = PartlyKnown(case.get("exists", []), case.get("unknown", []))
    pod = pod_of(case["pod"], labels=case.get("labels"), annotations=case.get("annotations"))
    return inject_pod(pod, case.get("values", {}), view)


def containers(result: Injection) -> dict[str, dict[str, Any]]:
    """The injected init containers by the names of their checks."""
    before = [one["name"] for one in result.pod["spec"].get("initContainers", [])]
    after = result.injected["spec"].get("initContainers", [])
    return {one["name"].removeprefix("preflight-"): one for one in after if one["name"] not in before}


@rows("case", CASES)
def test_a_pod_gets_the_checks_that_the_case_says(case: dict[str, Any]) -> None:
    result = injected(case)
    found, expected = containers(result), {key: value for key, value in case.items() if key in EXPECTATIONS}
    measured = {key: measure(key, value, result, found) for key, value in expected.items()}
    assert {key: measured[key] for key in expected} == expected


@rows("case", CASES)
def test_nothing_is_said_that_the_case_does_not_expect(case: dict[str, Any]) -> None:
    told = injected(case).findings
    assert {one.code for one in told if one.severity == "error"} == set(case.get("refused", []))
    expected = {*case.get("says", [])}
    skipped = {"preflight/skipped"} - expected  # the default checks of cases about something else
    assert {one.code for one in told if one.severity == "warning"} - skipped == expected


@rows("case", CASES)
def test_the_patch_gives_the_same_to_others_who_apply_it(case: dict[str, Any]) -> None:
    result = injected(case)
    assert jsonpatch.apply_patch(result.pod, result.patch) == result.injected


@rows("case", ADMITTED)
def test_a_second_injection_changes_nothing(case: dict[str, Any]) -> None:
    once = injected(case)
    view = PartlyKnown(case.get("exists", []), case.get("unknown", []))
    assert inject_pod(once.injected, case.get("values", {}), view).patch == []


@rows("case", CASES)
def test_a_case_says_nothing_that_no_test_looks_at(case: dict[str, Any]) -> None:
    assert set(case) - KEYS - EXPECTATIONS == set()
    assert set(case) & EXPECTATIONS


def measure(key: str, expected: Any, result: Injection, found: dict[str, dict[str, Any]]) -> Any:
    """What a case's expectation of this name is compared with; of maps by check, those checks that it names."""
    spec = result.injected["spec"]
    match key:
        case "checks":
            return list(found)
        case "order":
            return [one["name"] for one in spec["initContainers"]]
        case "limits" | "requests" | "claims":
            return {check: found[check]["resources"].get(key) for check in expected}
        case "volumes":
            return {name: {key: volume(spec, name).get(key) for key in keys} for name, keys in expected.items()}
        case "mounts":
            return {check: [mount["mountPath"] for mount in found[check]["volumeMounts"]] for check in expected}
        case "variables":
            return {check: {name: variable(found[check], name) for name in names} for check, names in expected.items()}
        case "container":
            return {check: {field: found[check].get(field) for field in fields} for check, fields in expected.items()}
        case "pull-secrets":
            return [one["name"] for one in spec["imagePullSecrets"]]
        case "gang":
            return {"name": volume(spec, "preflight-gang-config")["configMap"]["name"], "size": gang_size(result)}
        case _:  # `says` and `refused` are the other test's
            return expected


def variable(container: dict[str, Any], name: str) -> Any:
    values = [one.get("value") for one in container["env"] if one["name"] == name]
    assert len(values) <= 1, "a variable is given twice"
    return values[0] if values else None


def volume(spec: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in spec["volumes"] if one["name"] == name)


def gang_size(result: Injection) -> int:
    assert result.gang is not None
    return result.gang.size
