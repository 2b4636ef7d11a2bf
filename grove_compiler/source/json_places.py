"""Finds the place of each value in a JSON text; only runs for a diagnostic or for `explain`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.source.document import PlaceNode
from grove_compiler.source.place_tree import PendingKey, PlaceTree

_TOKEN = re.compile(r'[ \t\n\r,:]*([{}\[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+)', re.DOTALL)
"""A bracket or a scalar, and the separators before it, of which no place depends."""

SeenScalar = Callable[[str, int], None]
SeenDuplicate = Callable[[FieldPath, int], None]


def json_places(text: str, on_scalar: SeenScalar | None = None, on_duplicate: SeenDuplicate | None = None) -> PlaceNode:
    """Returns the places of the first value in a JSON text.

    `on_scalar` is called with the text and the offset of each key and scalar, `on_duplicate` with the path and the offset of each
    duplicate key.
    """
    tree = PlaceTree()
    position = 0
    while match := _TOKEN.match(text, position):
        position, token, offset = match.end(), match.group(1), match.start(1)
        if token in "{[":
            tree.start(PlaceNode(offset, {} if token == "{" else []))
        elif token in "}]":
            tree.end()
            if tree.is_complete:
                break
        else:
            is_key = tree.expects_key
            if is_key:
                name = _unquoted(token)
                if on_duplicate and tree.first(name):
                    on_duplicate((*tree.path, name), offset)
                tree.key(PendingKey(offset, name))
            else:
                tree.add(PlaceNode(offset))
            if on_scalar:
                on_scalar(token, offset)
            if not is_key and tree.is_complete:
                break
    return tree.result()


def _unquoted(token: str) -> str:
    if token[0] == '"' and "\\" not in token and token.isprintable():
        return token[1:-1]  # as nearly all are: to load each as JSON took a fifth of the time
    try:
        return str(json.loads(token))
    except ValueError:
        return token
