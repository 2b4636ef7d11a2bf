"""Answers AdmissionReviews about pods with the JSON Patch that adds their checks: what `grove preflight inject` prints."""

from __future__ import annotations

import json
from typing import Any

from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight import inject
from grove_compiler.record import record
from grove_operator.webhooks.review import answer, read_request

MUTATE_PODS = "/mutate-pod"
"""The path of the design's webhook configuration."""
NVSENTINEL_PATH = "/mutate"
"""The path of NVSentinel's webhook: an existing configuration for it only needs another Service."""


@record
class Injector:
    """Reviews pods by the existing objects of `view`. It neither reads from a cluster nor writes to it."""

    preflight: Preflight
    program: Program
    view: ObjectReader

    def review(self, review: Any) -> Manifest:
        """Returns the response to an AdmissionReview: a patch, a denial with all reasons, or neither. Raises `NoReview`."""
        request = read_request(review)
        if request.operation != "CREATE" or request.object.get("kind") != "Pod":
            return answer(request, [])
        result = inject(request.object, self.view, self.preflight, self.program, request.namespace)
        return answer(request, result.findings, json.dumps(result.patch, separators=(",", ":")).encode() if result.patch else b"")


def result_of(answer: Manifest) -> str:
    """Returns the value of the metrics' label `result` for a response."""
    response = answer["response"]
    if not response["allowed"]:
        return "refused"
    return "injected" if "patch" in response else "skipped"
