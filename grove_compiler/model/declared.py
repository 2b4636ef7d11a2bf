"""Defines attributes of the model that read a field of a manifest lazily; a class gives the field's path and type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from grove_compiler.model.lazy import lazy

T = TypeVar("T")


def declared(kind: type[T], path: str, doc: str = "", of: str = "manifest") -> lazy[T]:
    """Returns an attribute that reads the field at `path` (with dots) of the instance's map `of`; `doc` goes into the rules' reference.

    An absent field reads as the empty value of its type (`""`, 0, `{}`, `[]`), which Kubernetes takes for the same in nearly every field.
    Use `optional` where they differ.
    """
    keys = path.split(".")
    return _attribute(lambda owner: _find(getattr(owner, of), keys) or kind(), kind, path, doc)


def optional(kind: type[T], path: str, doc: str = "") -> lazy[T | None]:
    """Returns an attribute like `declared`, but None where the field is absent, so that 0 and no number can be told apart."""
    keys = path.split(".")
    return _attribute(lambda owner: _find(owner.manifest, keys), kind | None, path, doc)


def _find(value: Any, keys: list[str]) -> Any:
    for key in keys:
        # An empty map is asked, too: `explain` sees that nothing was found in it.
        value = (value if value or isinstance(value, dict) else {}).get(key)
    return value


def _attribute(read: Callable[[Any], Any], kind: Any, path: str, doc: str) -> lazy[Any]:
    # The engine checks rules by the annotations of the model, and the reference of rules quotes its docstrings.
    read.__annotations__ = {"return": kind}
    read.__doc__ = f"`{path}`. {doc}".strip()
    return lazy(read)
