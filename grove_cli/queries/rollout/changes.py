"""Describes in short what a revision changes in the pod templates of a set."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from applier.ref import Manifest
from grove_compiler.graph.field_path import ABSENT, FieldPath, render
from kube_objects.words import shortened

MAX_LENGTH = 60
"""Characters of a value, such as a command, that are shown."""


def changes_between(before: Manifest, after: Manifest) -> list[str]:
    """Returns the fields in which the templates of two revisions differ in meaning: `front, back: containers[main].image a:1 -> a:2`."""
    from grove_compiler.kube.semantic_difference import pod_template_differences  # brings many tables

    old = {entry.get("name"): _template(entry) for entry in before.get("cliques") or []}
    cliques: dict[str, list[str]] = defaultdict(list)
    for entry in after.get("cliques") or []:
        name, new = str(entry.get("name")), _template(entry)
        for change in pod_template_differences(old.get(name, new), new):
            cliques[f"{_place(change.path, new, old[name])} {_values(change.before, change.after)}"].append(name)
    lines = [f"{', '.join(names)}: {change}" for change, names in cliques.items()]
    classes = [str(data.get("priorityClassName") or "none") for data in (before, after)]
    return [*lines, *([f"priorityClassName {classes[0]} -> {classes[1]}"] if classes[0] != classes[1] else [])]


def _template(entry: Manifest) -> Manifest:
    parts = entry.get("template") or {}
    return {"metadata": {key: parts.get(key) or {} for key in ("labels", "annotations")}, "spec": parts.get("podSpec") or {}}


def _place(path: FieldPath, *templates: Manifest) -> str:
    """Returns a path without its first step, with the names of list items in place of indices: `containers[main].image`."""
    steps: list[str | int] = []
    values: list[Any] = list(templates)
    for step in path:
        values = [_member(value, step) for value in values]
        names = (value.get("name") for value in values if isinstance(value, dict))
        name = next((name for name in names if name), None) if isinstance(step, int) else None
        steps.append(step if name is None else f"[{name}]")
    return "".join(
        str(step) if str(step)[:1] == "[" else render([step]) if number == 0 else _dotted(step) for number, step in enumerate(steps[1:])
    )


def _dotted(step: str | int) -> str:
    text = render([step])
    return text if text.startswith("[") else f".{text}"


def _member(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _values(before: Any, after: Any) -> str:
    if isinstance(before, list) or isinstance(after, list):
        return _items(before, after)
    return f"{_shown(before)} -> {_shown(after)}"


def _items(before: Any, after: Any) -> str:
    """Describes a changed list by the names of its items: `+DEBUG -LEVEL`."""
    old, new = ([_name(item) for item in value] if isinstance(value, list) else [] for value in (before, after))
    signs = [f"+{name}" for name in new if name not in old] + [f"-{name}" for name in old if name not in new]
    return shortened(" ".join(signs), MAX_LENGTH) or "changed"


def _name(item: Any) -> str:
    names = (str(item[key]) for key in ("name", "key", "mountPath", "containerPort") if key in item) if isinstance(item, dict) else ()
    return next(iter(names), str(item))


def _shown(value: Any) -> str:
    return "none" if value is ABSENT or value is None else shortened(str(value), MAX_LENGTH)
