"""Resolves the arguments of `grove explain`: an object by kind and name, and a field by its path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from grove_cli.short_names import means_kind
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.nearest import nearest
from grove_compiler.graph.node import Manifest
from kube_objects import json_pointer

MAX_NAMES = 6


class ObjectTarget(NamedTuple):
    """The object of a command line. `kind` is as typed, without a group; `namespace` is empty if not given."""

    kind: str
    namespace: str
    name: str


class TargetNotFound(Exception):
    """Reports that an object does not exist. `nearest` is a similar name, `kind` the kind if that exists.

    `reasons` are lines that callers which know the rules may add.
    """

    def __init__(self, message: str, nearest: str = "", kind: str = "") -> None:
        self.nearest = nearest
        self.kind = kind
        self.reasons: list[str] = []
        super().__init__(message)


def parse_target(text: str) -> ObjectTarget | None:
    """Parses `KIND/NAME` or `KIND/NAMESPACE/NAME`; returns None for anything else.

    The kind may be followed by its group, as in `podgang.scheduler.grove.io/web-0`.
    """
    parts = text.split("/")
    if len(parts) not in (2, 3) or not all(parts):
        return None
    return ObjectTarget(parts[0].partition(".")[0], parts[1] if len(parts) == 3 else "", parts[-1])


def find_object(target: ObjectTarget, ids: Iterable[str], more_kinds: Sequence[str] = ()) -> str:
    """Returns the id of the object.

    `more_kinds` are those that rules could generate. Raises `TargetNotFound`, also if several objects match.
    """
    known = [(object_id, *_parts(object_id)) for object_id in ids]
    of_kind = [(object_id, namespace, name) for object_id, kind, namespace, name in known if means_kind(target.kind, kind)]
    if not of_kind:
        kinds = list(dict.fromkeys([kind for _, kind, _, _ in known] + list(more_kinds)))
        kind = next((kind for kind in kinds if means_kind(target.kind, kind)), "")
        if kind:
            raise TargetNotFound(f"there is no {kind} among the objects", kind=kind)
        raise TargetNotFound(f"unknown kind {target.kind!r}; the kinds are {', '.join(sorted(kinds))}", nearest(target.kind, kinds))
    found = [object_id for object_id, namespace, name in of_kind if name == target.name and target.namespace in ("", namespace)]
    if len(found) == 1:
        return found[0]
    if found:
        raise TargetNotFound(f"{target.name!r} is ambiguous: it may be any of {', '.join(found)}", found[0])
    kind = _parts(of_kind[0][0])[0]
    names = [name for _, _, name in of_kind]
    close = nearest(target.name, names)
    there = "" if close else f"; there are {', '.join(names[:MAX_NAMES])}" + (", …" if len(names) > MAX_NAMES else "")
    raise TargetNotFound(
        f"there is no {kind} {target.name!r}{there}", next((object_id for object_id, _, name in of_kind if name == close), ""), kind
    )


def resolve_path(text: str, manifest: Manifest) -> FieldPath:
    """Returns the path of the field.

    The notation is that of kubectl's jsonpath (`.spec.replicas`), of Kubernetes' messages, or of JSON pointers (`/spec/replicas`). Keys
    with dots may be plain, in brackets, or escaped by backslashes. Raises `TargetNotFound`, with the nearest path, if there is none.
    """
    path: FieldPath = ()
    value: Any = manifest
    if text.startswith("/"):
        for step in json_pointer.split(text):
            path, value = _enter(path, value, step)
        return path
    text = text.removeprefix("{").removesuffix("}").removeprefix("$").removeprefix(".").replace("\\.", ".")
    while text:
        step, text = _next_step(text, value)
        path, value = _enter(path, value, step)
    return path


def _next_step(text: str, value: Any) -> tuple[str, str]:
    """Returns the first step and the rest. Of several matching keys of a map, the longest is used."""
    if text.startswith("["):
        inside, _, rest = text[1:].partition("]")
        return inside.strip("'\""), rest.removeprefix(".")
    keys = [key for key in value if text == key or text.startswith((f"{key}.", f"{key}["))] if isinstance(value, dict) else []
    if keys:
        step = max(keys, key=len)
        return step, text[len(step) :].removeprefix(".")
    end = min((at for at in (text.find("."), text.find("[")) if at > 0), default=len(text))
    return text[:end], text[end:].removeprefix(".")


def _enter(path: FieldPath, value: Any, step: str) -> tuple[FieldPath, Any]:
    if isinstance(value, dict) and step in value:
        return (*path, step), value[step]
    if isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
        return (*path, int(step)), value[int(step)]
    missing: FieldPath = (*path, int(step) if isinstance(value, list) and step.isascii() and step.isdigit() else step)
    close = nearest(step, value) if isinstance(value, dict) else ""
    has = f"a list of {len(value)}" if isinstance(value, list) else "" if isinstance(value, dict) else "no map"
    message = f"there is no {render(missing)}" + (f"; {render(path)} is {has}" if has else "")
    raise NoSuchField(message, missing, render((*path, close)) if close else "")


class NoSuchField(TargetNotFound):
    """The object has no such field; `path` is the part that could be parsed."""

    def __init__(self, message: str, path: FieldPath, nearest: str) -> None:
        self.path = path
        super().__init__(message, nearest)


def _parts(object_id: str) -> tuple[str, str, str]:
    """Returns kind, namespace and name of an id."""
    parts = object_id.split("/")
    return parts[0], parts[1] if len(parts) == 3 else "", parts[-1]
