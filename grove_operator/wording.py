"""Words a finding as admission does, with Kubernetes' type of the error and the invalid value."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.diagnostic import Diagnostic
from kube_objects.words import shortened

MAX_VALUE_LENGTH = 80


def wording(finding: Diagnostic) -> str:
    """Returns a message as admission does: `Invalid value: 5: must be at most 3`."""
    if not finding.type:
        return finding.message
    if finding.value is None:
        return f"{finding.type}: {finding.message}"
    return f"{finding.type}: {short_value(finding.value)}: {finding.message}"


def short_value(value: Any, length: int = MAX_VALUE_LENGTH) -> str:
    """Returns a value as JSON, shortened to a length."""
    import json  # only when something is wrong

    return shortened(json.dumps(value, ensure_ascii=False, default=str), length)
