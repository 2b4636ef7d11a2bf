"""Finds the place of each value in a YAML document; only runs for a diagnostic or for `explain`."""

from __future__ import annotations

from typing import Any

import yaml
from yaml._yaml import CParser
from yaml.events import AliasEvent, CollectionEndEvent, DocumentEndEvent, MappingStartEvent, NodeEvent, ScalarEvent

from grove_compiler.source.document import PlaceNode
from grove_compiler.source.place_tree import PendingKey, PlaceTree
from grove_compiler.source.scalars import UnreadableNumber, key_text, resolve
from grove_compiler.source.yaml_tags import TagError, tagged_scalar


def yaml_places(text: str) -> PlaceNode:
    """Returns the places of the first document in the text, as far as it can be parsed.

    A value that an alias repeats has the places of its anchor, and so have the entries that a merge key adds.
    """
    tree, anchors = PlaceTree(), dict[str, PlaceNode]()
    try:
        parser = CParser(text)
        while (event := parser.get_event()) is not None and not isinstance(event, DocumentEndEvent):
            if isinstance(event, CollectionEndEvent):
                tree.end()
            elif isinstance(event, NodeEvent):
                _add(event, tree, anchors)
    except (yaml.YAMLError, UnicodeEncodeError):
        pass  # reported by the reader; what precedes the error has places
    return tree.result()


def _add(event: Any, tree: PlaceTree, anchors: dict[str, PlaceNode]) -> None:
    place = PlaceNode(event.start_mark.index)
    if isinstance(event, AliasEvent):
        place.children = anchors.get(event.anchor or "", place).children
        tree.add(place)
        return
    if event.anchor is not None:
        anchors[event.anchor] = place
    if not isinstance(event, ScalarEvent):
        place.children = {} if isinstance(event, MappingStartEvent) else []
        tree.start(place)
    elif tree.expects_key:
        tree.key(_key(event))
    else:
        tree.add(place)


def _key(scalar: Any) -> PendingKey:
    value: Any = scalar.value
    try:
        if scalar.implicit[0]:
            value = resolve(value)
        elif scalar.tag is not None:
            value = tagged_scalar(scalar.tag, value)
    except (UnreadableNumber, TagError):
        pass  # reported by the reader, which retains the text
    merges = value == "<<" and (scalar.implicit[0] or scalar.tag == "tag:yaml.org,2002:merge")
    return PendingKey(scalar.start_mark.index, key_text(value), merges)
