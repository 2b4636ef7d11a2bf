"""Fields of a manifest as attributes of the model: a class names the field and its type, and it is read when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from grove_compiler.model.lazy import lazy

T = TypeVar("T")


def declared(kind: type[T], path: str, doc: str = "") -> lazy[T]:
    """Returns an attribute that reads a field of its instance's `manifest`; `path` has dots, `doc` is for the reference of rules.

    A field that is absent has the empty value of its type (`""`, 0, `{}`, `[]`): rules ask for what is there far more often than whether
    it is there, and Kubernetes takes the two for the same in nearly every field. Where they differ, say `optional`.
    """
    keys = path.split(".")
    return _attribute(lambda owner: _find(owner.manifest, keys) or kind(), kind, path, doc)


def optional(kind: type[T], path: str, doc: str = "") -> lazy[T | None]:
    """Returns an attribute as `declared` does, which is none where the field is absent: 0 is a number then, and no number is none."""
    keys = path.split(".")
    return _attribute(lambda owner: _find(owner.manifest, keys), kind | None, path, doc)


def _find(value: Any, keys: list[str]) -> Any:
    for key in keys:
        value = (value or {}).get(key)
    return value


def _attribute(read: Callable[[Any], Any], kind: Any, path: str, doc: str) -> lazy[Any]:
    # The engine checks rules by the annotations of the model, and the reference of rules quotes its docstrings.
    read.__annotations__ = {"return": kind}
    read.__doc__ = f"`{path}`. {doc}".strip()
    return lazy(read)
