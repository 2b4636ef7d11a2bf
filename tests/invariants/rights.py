"""Finds what an account was refused for want of a right, in the audit log of a control plane."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORBIDDEN = b'"authorization.k8s.io/decision":"forbid"'
OF_OWNERS = (b"cannot set blockOwnerDeletion", b"cannot set an ownerRef")
"""How the admission of owner references refuses."""


def refused(log: Path, account: str) -> list[str]:
    """What the account was refused, each once: `create pods test-x2: why`, without the names of objects."""
    return sorted({_told(event) for event in _refusals(log) if event["user"]["username"] == account})


def _refusals(log: Path) -> Iterator[dict[str, Any]]:
    """The refusals of whomever. A log has hundreds of thousands of lines, of which few are parsed."""
    with log.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n") and (FORBIDDEN in line or any(words in line for words in OF_OWNERS)):
                yield json.loads(line)


def _told(event: dict[str, Any]) -> str:
    target = event.get("objectRef", {})
    resource = "/".join(filter(None, (target.get("resource"), target.get("subresource"))))
    what = ".".join(filter(None, (resource, target.get("apiGroup"))))
    reason = event.get("annotations", {}).get("authorization.k8s.io/reason") or event.get("responseStatus", {}).get("message", "")
    return f"{event['verb']} {what} {target.get('namespace', '')}: {reason}"
