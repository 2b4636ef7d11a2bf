"""What was refused for want of a right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .rights import refused

OPERATOR = "system:serviceaccount:grove-system:grove-operator"
POD = {"resource": "pods", "namespace": "shop", "name": "a"}
GANG = {"resource": "podgangs", "subresource": "status", "apiGroup": "scheduler.grove.io", "namespace": "shop", "name": "a"}


def line(verb: str, target: dict[str, str], decision: str = "allow", reason: str = "", message: str = "", user: str = OPERATOR) -> str:
    annotations = {"authorization.k8s.io/decision": decision, "authorization.k8s.io/reason": reason}
    event: dict[str, Any] = {"verb": verb, "user": {"username": user}, "objectRef": target, "annotations": annotations}
    return json.dumps({**event, "responseStatus": {"message": message}}, separators=(",", ":")) + "\n"


def test_each_is_told_once_and_only_of_the_account(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    forbidden = [line("patch", {**GANG, "name": name}, "forbid") for name in ("a", "b")]
    log.write_text(line("create", POD) + "".join(forbidden) + line("delete", POD, "forbid", user="somebody") + '{"decision":"forbid"')
    assert refused(log, OPERATOR) == ["patch podgangs/status.scheduler.grove.io shop: "]


def test_so_is_what_admission_refuses_for_rights_on_the_owner(tmp_path: Path) -> None:
    why = 'pods "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to another one'
    log = tmp_path / "audit.log"
    log.write_text(line("create", POD, message=why) + line("create", POD, message='pods "a" is forbidden: exceeded quota'))
    assert refused(log, OPERATOR) == [f"create pods shop: {why}"]
