"""Computes the events about the completed checks of a pod (ADR-026, Failure Behavior); pure, like a step."""

from __future__ import annotations

from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.runtime.results import Event
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.check_run import TestedPod
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.preflight.values import Preflight

SUBJECT = "PreflightResult"
LABEL = "preflight.grove.io/checked"
"""The label of all injected pods, by which the controller selects the pods that it watches."""


def check_events(pod: Manifest, preflight: Preflight, program: Program) -> list[Event]:
    """Returns the events of a pod, each with a deterministic name. Raises `RuleFailure`."""
    tested = TestedPod(pod)
    scope = {"tested": tested, "preflight": preflight, "settings": Settings(), "config": Configuration({})}
    return program.events(scope, SUBJECT)
