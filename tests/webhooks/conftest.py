"""A judge with the shipped rules, and the requests that an API server makes."""

from __future__ import annotations

from typing import Any

import pytest

from applier.testing.control_plane import ControlPlane
from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.step import StepContext
from grove_operator.webhooks.review import API_VERSION, Reviewer
from tests.definitions import with_definitions

Manifest = dict[str, Any]


@pytest.fixture(scope="session")
def program() -> Program:
    return rulebook.read().program(VOCABULARY)


@pytest.fixture(scope="session")
def judge(program: Program) -> Reviewer:
    return Reviewer(StepContext(program, Settings()))


@pytest.fixture
def workload() -> Manifest:
    """A small set that is right."""
    containers = [{"name": "engine", "image": "engine:1"}]
    cliques = [{"name": "worker", "spec": {"roleName": "worker", "replicas": 2, "minAvailable": 2, "podSpec": {"containers": containers}}}]
    metadata = {"name": "chat", "namespace": "team", "uid": "u"}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": metadata,
        "spec": {"replicas": 1, "template": {"cliques": cliques}},
    }


@pytest.fixture(scope="session")
def crds(control_plane: ControlPlane) -> None:
    """Our definitions, served by the control plane."""
    with_definitions(control_plane)


@pytest.fixture
def there(workload: Manifest, namespace: str) -> Manifest:
    """The small set, in the test's namespace."""
    workload["metadata"] = {"name": "chat", "namespace": namespace}
    return workload


def asked(operation: str, object: Manifest | None, old: Manifest | None = None, **more: Any) -> Manifest:
    """An AdmissionReview as an API server sends it."""
    request = {"uid": "42", "operation": operation, "namespace": "team", "object": object, "oldObject": old, **more}
    return {"apiVersion": API_VERSION, "kind": "AdmissionReview", "request": request}
