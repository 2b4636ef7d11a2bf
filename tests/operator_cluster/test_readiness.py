"""When objects of ours are ready."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from applier.errors import ApplierError
from applier.readiness import Readiness, State
from applier.ref import Manifest
from grove_cli.cluster.session import program_of
from grove_cli.queries.live_states import readiness_check
from tests.suite.rows import rows

from ..shipped import program
from .manifests import obj

THEN, LATER = "2026-01-01T10:00:00Z", "2026-01-01T10:00:09Z"
ENDED = {"updateStartedAt": THEN, "updateEndedAt": LATER}
GROVE, SCHEDULER = "grove.io/v1alpha1", "scheduler.grove.io/v1alpha1"


def check(manifest: Manifest) -> Readiness:
    return readiness_check(program())(manifest)


@rows(
    ("kind", "api", "spec", "status", "state"),
    [
        ("PodCliqueSet", GROVE, {"replicas": 2}, {"availableReplicas": 2}, State.READY),
        ("PodCliqueSet", GROVE, {"replicas": 2}, {"availableReplicas": 1}, State.IN_PROGRESS),
        ("PodCliqueSet", GROVE, {"replicas": 0}, {}, State.READY),
        ("PodCliqueSet", GROVE, {"replicas": 2}, {"availableReplicas": 2, "updateProgress": {"updateStartedAt": THEN}}, State.IN_PROGRESS),
        ("PodCliqueSet", GROVE, {"replicas": 2}, {"availableReplicas": 2, "updateProgress": ENDED}, State.READY),
        ("PodCliqueSet", GROVE, {"replicas": 2}, {"phase": "Running", "availableReplicas": 1}, State.IN_PROGRESS),
        ("PodCliqueSet", GROVE, {"replicas": 2}, {"phase": "Succeeded", "availableReplicas": 0}, State.READY),
        ("PodCliqueSet", GROVE, {"replicas": 2}, {"phase": "Failed", "conditions": [{"type": "Failed", "status": "True"}]}, State.FAILED),
        ("PodClique", GROVE, {"replicas": 2}, {"readyReplicas": 0, "conditions": [{"type": "Succeeded", "status": "True"}]}, State.READY),
        ("PodCliqueScalingGroup", GROVE, {"replicas": 1}, {"availableReplicas": 1}, State.READY),
        ("PodCliqueScalingGroup", GROVE, {"replicas": 1}, None, State.IN_PROGRESS),
        ("PodClique", GROVE, {"replicas": 3}, {"readyReplicas": 3}, State.READY),
        ("PodClique", GROVE, {"replicas": 3}, {"readyReplicas": 2}, State.IN_PROGRESS),
        ("PodGang", SCHEDULER, {}, {"phase": "Pending", "conditions": [{"type": "Initialized", "status": "True"}]}, State.READY),
        ("PodGang", SCHEDULER, {}, {"phase": "Pending", "conditions": [{"type": "Initialized", "status": "False"}]}, State.IN_PROGRESS),
        ("PodGang", SCHEDULER, {}, None, State.IN_PROGRESS),
    ],
)
def test_an_object_is(kind: str, api: str, spec: Any, status: Any, state: State) -> None:
    assert check(obj(kind, "x", api=api, spec=spec, **({} if status is None else {"status": status}))).state is state


def test_what_is_missing_is_named() -> None:
    said = check(obj("PodClique", "x", api=GROVE, spec={"replicas": 3}, status={"readyReplicas": 2}))
    assert said.reason == "status.readyReplicas is 2, expected >= 3, the spec.replicas"


def test_an_update_that_goes_on_is_named() -> None:
    status = {"availableReplicas": 1, "updateProgress": {"updateStartedAt": THEN}}
    said = check(obj("PodCliqueSet", "x", api=GROVE, spec={"replicas": 1}, status=status))
    assert said.reason == f"status.updateProgress.updateEndedAt is missing, expected >= {THEN}, the status.updateProgress.updateStartedAt"


def test_what_its_controller_has_not_seen_is_not_ready() -> None:
    status = {"availableReplicas": 1, "observedGeneration": 1}
    said = check(obj("PodCliqueSet", "x", api=GROVE, metadata={"generation": 2}, spec={"replicas": 1}, status=status))
    assert said.state is State.IN_PROGRESS


ENTRIES = "{'condition': 'Good', 'then': 'Fine'}", "{'field': '/x', 'comparison': '=', 'value': 1, 'then': 'Failed'}"


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_rule_that_decides_something_else_is_refused(entry: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(f'rule: readiness/counts\ndoc: Mine.\ndecide: ready_when\nvalue: "[{entry}]"\n')
    with pytest.raises(ApplierError, match="`then` of the readiness of PodCliqueSet is Ready, or Failed for a condition"):
        readiness_check(program_of([str(tmp_path)]))


MALFORMED = {
    "{'condition': 'Good', 'reason': 'Fine', 'then': 'Ready'}": "is not a condition",
    "{'condition': 'Good', 'then': ''}": "is Ready, or Failed for a condition",
    "{'condition': ['Good'], 'then': 'Ready'}": "is not a condition",
    "{'field': 3, 'comparison': '=', 'value': 1, 'then': 'Ready'}": "is not a JSON pointer",
}


@pytest.mark.parametrize(("entry", "said"), MALFORMED.items())
def test_a_rule_whose_end_cannot_be_read_is_refused(entry: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(f'rule: readiness/counts\ndoc: Mine.\ndecide: ready_when\nvalue: "[{entry}]"\n')
    with pytest.raises(ApplierError, match=said):
        readiness_check(program_of([str(tmp_path)]))
