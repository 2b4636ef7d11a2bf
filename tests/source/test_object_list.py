"""Lists of objects, however they are nested."""

from __future__ import annotations

from typing import Any

from grove_compiler.source.document import objects_in
from tests.suite.rows import rows

ONE = {"apiVersion": "v1", "kind": "Secret"}


@rows(
    ("value", "found"),
    [
        (ONE, [((), ONE)]),
        (7, [((), 7)]),
        ({"kind": "List"}, [((), {"kind": "List"})]),
        ({"kind": "List", "items": []}, []),
        ({"kind": "List", "items": [None, ONE]}, [(("items", 0), None), (("items", 1), ONE)]),
        ({"kind": "List", "items": [{"kind": "List", "items": [ONE]}, ONE]}, [(("items", 0, "items", 0), ONE), (("items", 1), ONE)]),
        ({"apiVersion": "v1", "kind": "SecretList", "items": [{"data": {}}]}, [(("items", 0), {**ONE, "data": {}})]),
        ({"apiVersion": "v1", "kind": "List", "items": [{"data": {}}]}, [(("items", 0), {"data": {}})]),
        ({"kind": ["List"], "items": [ONE]}, [((), {"kind": ["List"], "items": [ONE]})]),
    ],
)
def test_the_items_of_lists_are_objects_of_their_own(value: Any, found: list[Any]) -> None:
    assert list(objects_in(value)) == found
