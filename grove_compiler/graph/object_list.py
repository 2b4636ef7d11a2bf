"""Lists of objects, as kubectl and the API print them: `List`, `NodeList`, lists in lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grove_compiler.graph.field_path import FieldPath


def is_list(value: Any) -> bool:
    """Tells whether a manifest stands for its items."""
    return isinstance(value, dict) and str(value.get("kind")).endswith("List") and isinstance(value.get("items"), list)


def objects_in(value: Any, at: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yields a manifest with its path, or the items of a list, those of lists in it too, as kubectl takes them.

    An item without a kind gets that of its typed list, where the API leaves it out. Nothing says that what comes is a map.
    """
    if not is_list(value):
        yield at, value
        return
    kind = value["kind"].removesuffix("List")
    typed = {key: text for key, text in (("apiVersion", value.get("apiVersion")), ("kind", kind)) if kind and isinstance(text, str)}
    for position, item in enumerate(value["items"]):
        bare = typed and isinstance(item, dict) and "kind" not in item
        yield from objects_in({**typed, **item} if bare else item, (*at, "items", position))
