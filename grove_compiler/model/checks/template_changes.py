"""Which fields of a clique's pod template an update changes, so that its hash is another one."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.field_path import ABSENT, FieldPath, render, replace
from grove_compiler.model.spec.templates import CliqueTemplate

MOST_CHANGES = 100


def changed_template_fields(clique: CliqueTemplate, old: CliqueTemplate) -> list[str]:
    """Field paths in the set, by the order of the template; empty when the pod-template hash stays (`1000m` for `1` is no change).

    The set's priorityClassName, which the hash covers too, is left to a check of its own. A list whose length changes counts as
    one field.
    """
    now, then = clique.hashed_template(""), old.hashed_template("")  # of both without the class
    if now == then:
        return []
    from grove_compiler.kube.template_hash import pod_template_hash  # brings the pod API's field tables: only when something changed

    before = pod_template_hash(then)
    if pod_template_hash(now) == before:
        return []
    changed = _differences(now, then, ())[:MOST_CHANGES]
    telling = [path for path, value in changed if pod_template_hash(replace(then, path, value)) != before]
    return [_in_set(clique, path) for path in telling or [("spec",)]]


def _differences(now: Any, then: Any, path: FieldPath) -> list[tuple[FieldPath, Any]]:
    """The deepest paths at which two values differ, with the value that is there now."""
    if isinstance(now, dict) and isinstance(then, dict):
        keys = dict.fromkeys([*now, *then])
        return [entry for key in keys for entry in _differences(now.get(key, ABSENT), then.get(key, ABSENT), (*path, key))]
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [entry for index, pair in enumerate(zip(now, then, strict=True)) for entry in _differences(*pair, (*path, index))]
    return [] if now is then or now == then else [(path, now)]


def _in_set(clique: CliqueTemplate, path: FieldPath) -> str:
    """A path of the hashed template as one of the set's."""
    inner = render(path[1:])
    if path[0] == "metadata":
        return f"{clique.path}.{inner}"
    joint = "" if not inner or inner.startswith("[") else "."
    return f"{clique.path}.spec.podSpec{joint}{inner}"
