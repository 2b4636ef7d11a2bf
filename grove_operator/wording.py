"""Words a finding as admission does, with Kubernetes' type of the error and the invalid value."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.diagnostic import Diagnostic

MAX_VALUE_LENGTH = 80


def wording(finding: Diagnostic) -> str:
    """Returns a message as admission does: `Invalid value: 5: must be at most 3`."""
    if not finding.type:
        return finding.message
    if finding.value is None:
        return f"{finding.type}: {finding.message}"
    return f"{finding.type}: {short_value(finding.value)}: {finding.message}"


def short_value(value: Any) -> str:
    """Returns an invalid value as JSON, cut off where it is long."""
    import json  # only when something is wrong

    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"
