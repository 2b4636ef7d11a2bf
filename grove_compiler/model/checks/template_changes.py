"""Finds the fields of a clique's pod template that an update changes, so that its pods would have to be replaced."""

from __future__ import annotations

from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.model.spec.templates import CliqueTemplate

MAX_CHANGES = 100


def changed_template_fields(clique: CliqueTemplate, old: CliqueTemplate) -> list[str]:
    """Returns the changed fields as paths in the set, in the order of the template; `1000m` for `1` is no change.

    The set's priorityClassName, which is part of the template too, has a check of its own. A list whose length changes counts as one
    field. Returns at most `MAX_CHANGES` paths.
    """
    new, previous = clique.hashed_template(""), old.hashed_template("")  # both without the priority class
    if new == previous:
        return []
    from grove_compiler.kube.semantic_difference import pod_template_differences  # lazily: it loads many tables

    return [_in_set(clique, change.path) for change in pod_template_differences(previous, new)[:MAX_CHANGES]]


def _in_set(clique: CliqueTemplate, path: FieldPath) -> str:
    """Converts a path in the hashed template to one in the set."""
    inner = render(path[1:])
    if path[0] == "metadata":
        return f"{clique.path}.{inner}"
    joint = "" if not inner or inner.startswith("[") else "."
    return f"{clique.path}.spec.podSpec{joint}{inner}"
