"""Which fields of a clique's pod template an update changes, so that its pods would be others."""

from __future__ import annotations

from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.model.spec.templates import CliqueTemplate

MOST_CHANGES = 100


def changed_template_fields(clique: CliqueTemplate, old: CliqueTemplate) -> list[str]:
    """Field paths in the set, by the order of the template; empty when the pods stay what they are (`1000m` for `1` is no change).

    The set's priorityClassName, which belongs to the template too, is left to a check of its own. A list whose length changes counts
    as one field.
    """
    now, then = clique.hashed_template(""), old.hashed_template("")  # of both without the class
    if now == then:
        return []
    from grove_compiler.kube.semantic_difference import pod_template_differences  # brings many tables: only when something changed

    return [_in_set(clique, change.path) for change in pod_template_differences(then, now)[:MOST_CHANGES]]


def _in_set(clique: CliqueTemplate, path: FieldPath) -> str:
    """A path of the hashed template as one of the set's."""
    inner = render(path[1:])
    if path[0] == "metadata":
        return f"{clique.path}.{inner}"
    joint = "" if not inner or inner.startswith("[") else "."
    return f"{clique.path}.spec.podSpec{joint}{inner}"
