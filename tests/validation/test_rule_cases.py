"""Each rule about pods, autoscalers and claims is seen to find what it is for, in a template that a real API server refuses as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.testing import assets
from applier.testing.control_plane import ControlPlane
from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.field_path import ABSENT, FieldPath, parse, replace
from grove_compiler.source.document import Document
from tests.suite.rows import rows

from ..shipped import program as shipped
from .case_files import FILES, read_case
from .server_check.subjects import SUBJECTS, Subject
from .server_check.verdicts import Judge

FOLDER = Path(__file__).parent / "rule_cases"
FILES_OF_RULES = ("rules/validation/pod/", "rules/validation/metrics.yaml", "rules/validation/claims.yaml")


@dataclass
class RuleCase:
    """A valid template with changes, and the rule that should find them, among `expect`: each a rule and a path in the template."""

    subject: Subject
    rule: str
    template: str
    changes: dict[str, Any]
    expect: list[str]

    @property
    def value(self) -> Any:
        """The template after the changes."""
        value = self.subject.templates[self.template]
        for path, new in self.changes.items():
            value = _changed(value, parse(path), ABSENT if new is None else new)
        return value

    def found(self, program: Program, value: Any) -> set[tuple[str, str]]:
        """The errors in a value, as rule and path in the set."""
        manifest = self.subject.set_with(value)
        return {(one.code, one.path) for one in lint(Inputs([Document(manifest)]), program) if one.severity == "error"}


def _changed(value: Any, path: FieldPath, new: Any) -> Any:
    """Replaces, leaves out, or for the index after a list's last item appends."""
    *above, last = path
    holder = value
    for step in above:
        holder = holder[step]
    if isinstance(last, int) and isinstance(holder, list):
        return replace(value, tuple(above), [*holder[:last], new, *holder[last + 1 :]])
    return replace(value, path, new)


def _read(subject: Subject) -> Iterator[RuleCase]:
    file = FOLDER / f"{subject.name}.yaml"
    for entry in yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader) if file.exists() else ():
        yield RuleCase(subject, entry["rule"], entry["template"], entry["set"], entry["expect"])


CASES = [case for subject in SUBJECTS for case in _read(subject)]
CLAIMS = next(subject for subject in SUBJECTS if subject.name == "claims")
CASES.append(  # ten thousand characters, which no table should have
    RuleCase(
        CLAIMS,
        "claim/expression-size",
        "requests",
        {"spec.devices.requests[0].exactly.selectors[0].cel.expression": f'device.driver == "{"a" * 10240}"'},
        ["claim/expression-size spec.devices.requests[0].exactly.selectors[0].cel.expression"],
    )
)


@cache
def base(subject: str, template: str) -> frozenset[tuple[str, str]]:
    """What lint finds in the template as it is: Grove's own demands."""
    case = next(case for case in CASES if (case.subject.name, case.template) == (subject, template))
    return frozenset(case.found(shipped(), case.subject.templates[template]))


@rows("case", CASES, ids=lambda case: case.rule)
def test_a_rule_finds_what_it_is_for(case: RuleCase, program: Program) -> None:
    found = case.found(program, case.value) - base(case.subject.name, case.template)
    assert sorted(f"{code} {path.removeprefix(case.subject.place).lstrip('.')}" for code, path in found) == sorted(case.expect)
    assert case.rule in {text.partition(" ")[0] for text in case.expect}


def test_every_rule_about_pods_autoscalers_and_claims_has_a_case(program: Program) -> None:
    rules = {rule.id for rule in program.rules if rule.verb == "validate" and rule.file.startswith(FILES_OF_RULES)}
    in_folders = {entry["rule"] for path in FILES for entry in read_case(path).expected}
    assert rules - in_folders - {case.rule for case in CASES} == set()


@pytest.fixture(scope="module")
def judge(control_plane: ControlPlane, program: Program) -> Judge:
    return Judge(control_plane, program)


NEWER = {
    "metric/object-versions",
    "pod/long-hostnames",
    "pod/names",
    "pod/proc-mounts",
    "pod/resize-restarts",
    "pod/user-namespace-devices",
    "pod/user-namespace-sharing",
}
"""Rules about what servers before 1.35 take or do not know."""


@pytest.mark.cluster
@rows("case", CASES, ids=lambda case: case.rule)
def test_the_server_refuses_it_too(case: RuleCase, judge: Judge) -> None:
    what, since = ("resource.k8s.io/v1", "1.34") if case.subject is CLAIMS else (case.rule, "1.35" if case.rule in NEWER else "1.32")
    if reason := assets.why_not_served(what, since):
        pytest.skip(reason)
    assert judge.judge(case.subject, case.value).server
