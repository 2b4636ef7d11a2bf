"""Where each value of a YAML document stands; runs only when a diagnostic or `explain` asks."""

from __future__ import annotations

from typing import Any

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from grove_compiler.source.document import Place
from grove_compiler.source.scalars import UnreadableNumber, key_text, resolve
from grove_compiler.source.yaml_tags import TagError, tagged_scalar


def yaml_places(text: str) -> Place:
    """Returns the places of the first document in the text, as far as it can be parsed. The first of duplicate keys counts.

    A value that an alias repeats has the places of its anchor, and so have the entries that a merge key brings.
    """
    scan = _Scan()
    try:
        parser = CParser(text)
        while (event := parser.get_event()) is not None and not isinstance(event, DocumentEndEvent):
            scan.take(event)
    except (yaml.YAMLError, UnicodeEncodeError):
        pass  # the reader has reported it; what came before has its places
    return scan.result()


class _Scan:
    def __init__(self) -> None:
        self.top: list[Place] = []
        self.open = [Place(0, 0, self.top)]
        # For each open container the key that waits for its value: its text and offset, and whether it is a merge key.
        self.keys: list[tuple[str | None, int, bool] | None] = [None]
        self.anchors: dict[str, Place] = {}

    def take(self, event: Any) -> None:
        if isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._close()
        elif isinstance(event, NodeEvent):
            self._node(event)

    def result(self) -> Place:
        """Returns the root's place, with what a text that ends early has left open."""
        while len(self.open) > 1:
            self._close()
        return self.top[0] if self.top else Place(0, 0)

    def _close(self) -> None:
        place = self.open.pop()
        self.keys.pop()
        self._attach(place, None)

    def _node(self, event: Any) -> None:
        offset = event.start_mark.index
        if isinstance(event, AliasEvent):
            known = self.anchors.get(event.anchor or "") or Place(offset, offset)
            self._attach(Place(offset, offset, known.children), None)
            return
        place = Place(offset, offset)
        if event.anchor is not None:
            self.anchors[event.anchor] = place
        if isinstance(event, ScalarEvent):
            self._attach(place, event)
            return
        place.children = {} if isinstance(event, MappingStartEvent) else []
        self.open.append(place)
        self.keys.append(None)

    def _attach(self, place: Place, scalar: Any) -> None:
        parent, key = self.open[-1], self.keys[-1]
        children = parent.children
        if isinstance(children, list):
            children.append(place)
        elif key is None:
            self.keys[-1] = _key(scalar, place.value)
        elif isinstance(children, dict):
            self.keys[-1] = None
            name, place.key, merges = key
            if merges:
                _merge(children, place)
            elif name is not None:
                children.setdefault(name, place)


def _key(scalar: Any, offset: int) -> tuple[str | None, int, bool]:
    if scalar is None:
        return None, offset, False
    value: Any = scalar.value
    try:
        if scalar.implicit[0]:
            value = resolve(value)
        elif scalar.tag is not None:
            value = tagged_scalar(scalar.tag, value)
    except (UnreadableNumber, TagError):
        value = scalar.value
    merges = value == "<<" and (scalar.implicit[0] or scalar.tag == "tag:yaml.org,2002:merge")
    return key_text(value), offset, merges


def _merge(children: dict[str, Place], place: Place) -> None:
    for source in reversed(place.children) if isinstance(place.children, list) else [place]:
        if isinstance(source.children, dict):
            children.update(source.children)
