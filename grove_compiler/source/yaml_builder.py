"""Builds plain values from parser events, without recursion, and tracks the anchors of a document and their sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from yaml.events import AliasEvent, DocumentEndEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from grove_compiler.source.findings import Findings, LimitExceeded, Limits
from grove_compiler.source.scalars import UnreadableNumber, key_text, resolve, shorten
from grove_compiler.source.yaml_tags import TagError, check_collection_tag, tagged_scalar


class Anchor:
    """Represents a value that an alias may repeat. `nodes` and `size` count its entries and characters, with aliases expanded."""

    __slots__ = ("is_open", "nodes", "size", "value")

    def __init__(self, value: Any, nodes: int, size: int, is_open: bool) -> None:
        self.value = value
        self.nodes = nodes
        self.size = size
        self.is_open = is_open


class Anchors:
    """Holds anchors by name. `open` has those whose value is incomplete, by its id; `expanded` is what aliases add, in characters."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.known: dict[str, Anchor] = {}
        self.open: dict[int, Anchor] = {}
        self.expanded = 0
        self._heights: dict[int, int] = {}

    def scalar(self, event: Any, value: Any) -> None:
        """Records an anchored scalar."""
        self.known[event.anchor] = Anchor(value, 0, len(event.value), is_open=False)

    def start(self, node: Any, event: Any, nodes: int) -> None:
        """Records the beginning of an anchored mapping or list; `nodes` is the file's count so far."""
        self.known[event.anchor] = self.open[id(node)] = Anchor(node, -nodes, -event.start_mark.index - self.expanded, is_open=True)

    def end(self, node: Any, event: Any, nodes: int) -> None:
        """Closes the anchor of a mapping or list, if it has one."""
        anchor = self.open.pop(id(node), None)
        if anchor is not None:
            anchor.nodes += nodes
            anchor.size += event.end_mark.index + self.expanded
            anchor.is_open = False

    def height(self, value: Any) -> int:
        """Returns the depth of nested containers, the value itself included. Linear in its distinct containers."""
        if not isinstance(value, dict | list):
            return 0
        heights, waiting = self._heights, [value]
        while waiting:
            node = waiting[-1]
            children = [child for child in _children(node) if isinstance(child, dict | list)]
            missing = [child for child in children if id(child) not in heights]
            if missing:
                waiting.extend(missing)
            else:
                heights[id(node)] = 1 + max((heights[id(child)] for child in children), default=0)
                waiting.pop()
        return heights[id(value)]


def _children(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


Frame = tuple[Any, Any, Any]
Event = Any  # the stubs of PyYAML let marks be missing, which libyaml's events never do, and know no attributes of the base class


class OddKey:
    """Stands in a mapping for a key that is dropped at its end: a merge key, or an invalid one."""

    __slots__ = ("event", "merges")

    def __init__(self, merges: bool, event: Event) -> None:
        self.merges = merges
        self.event = event


class Builder:
    """Builds the documents of one file. Findings go to `findings`; `LimitExceeded` is raised when a limit is exceeded."""

    def __init__(self, findings: Findings, limits: Limits) -> None:
        self.findings = findings
        self.limits = limits
        self.plain: dict[str, Any] = {}
        self.nodes = 0
        self.anchors = Anchors(limits)
        self.odd: set[int] = set()

    def document(self, events: Iterator[Event], root: list[Any]) -> Event:
        """Appends the next document's value to `root` and returns the event that ends it."""
        self.anchors = anchors = Anchors(self.limits)
        self.odd = odd = set[int]()
        plain, depth_limit = self.plain, self.limits.depth
        stack: list[Frame] = []
        # The open container: `append` is None when it is a mapping, and `key` is then the key whose value comes next.
        node: Any = root
        append: Any = root.append
        key: Any = None
        value: Any
        for event in events:
            kind = event.__class__
            if kind is ScalarEvent:
                value = event.value
                if event.implicit[0]:
                    try:
                        value = plain[value]
                    except KeyError:
                        value = self._plain(value, event)
                elif event.tag is not None:
                    value = self._tagged(event)
                if event.anchor is not None:
                    anchors.scalar(event, value)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self.nodes += len(node)
                if self.nodes > self.limits.nodes:
                    self._refuse_nodes(event)
                if odd and id(node) in odd:
                    self._settle(node)
                if anchors.open:
                    anchors.end(node, event, self.nodes)
                value = node
                node, append, key = stack.pop()
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if len(stack) >= depth_limit:
                    self._refuse_depth(event)
                stack.append((node, append, key))
                node, key = ({}, None) if kind is MappingStartEvent else ([], None)
                append = node.append if kind is SequenceStartEvent else None
                if event.tag is not None or event.anchor is not None:
                    self._start(node, event)
                continue
            elif kind is AliasEvent:
                value = self._alias(event, len(stack))
            elif kind is DocumentEndEvent:
                return event
            else:
                continue
            if append is not None:
                append(value)
            elif key is not None:
                node[key] = value
                key = None
            elif value.__class__ is str and value != "<<" and value not in node:
                key = value
            else:
                key = self._key(value, event, node, stack)
        # The events ran out before the document ended: the limit on events stopped them.
        return self._refuse_nodes(None)

    def _plain(self, text: str, event: Event) -> Any:
        try:
            value = self.plain[text] = resolve(text)
        except UnreadableNumber as error:
            self.findings.error("yaml/number", str(error), event.start_mark.index)
            return text
        return value

    def _tagged(self, event: Any) -> Any:
        try:
            return tagged_scalar(event.tag, event.value)
        except TagError as error:
            self.findings.error(error.code, str(error), event.start_mark.index)
            return event.value

    def _start(self, node: Any, event: Any) -> None:
        if event.tag is not None:
            try:
                check_collection_tag(event.tag, "mapping" if event.__class__ is MappingStartEvent else "list")
            except TagError as error:
                self.findings.error(error.code, str(error), event.start_mark.index)
        if event.anchor is not None:
            self.anchors.start(node, event, self.nodes)

    def _alias(self, event: Any, depth: int) -> Any:
        known = self.anchors.known.get(event.anchor)
        if known is None:
            message = f"the alias *{shorten(event.anchor)} has no anchor &{shorten(event.anchor)} before it in this document"
            self.findings.error("yaml/unknown-alias", message, event.start_mark.index)
            return None
        if known.is_open:
            message = f"the alias *{shorten(event.anchor)} is inside the value that it refers to, which would never end"
            self.findings.error("yaml/cyclic-alias", message, event.start_mark.index)
            return None
        self.nodes += known.nodes
        self.anchors.expanded += known.size
        if self.nodes > self.limits.nodes or self.anchors.expanded > self.limits.size:
            self._refuse_nodes(event)
        if depth + self.anchors.height(known.value) > self.limits.depth:
            self._refuse_depth(event)
        return known.value

    def _key(self, value: Any, event: Event, node: dict[Any, Any], stack: list[Frame]) -> Any:
        """Returns the key for a value that is not simply new text; reports an invalid key."""
        if value == "<<" and isinstance(event, ScalarEvent) and (event.implicit[0] or event.tag == "tag:yaml.org,2002:merge"):
            return self._odd_key(node, event, merges=True)
        text = key_text(value)
        if text is None:
            self.findings.error("yaml/key", self._no_key(value, event), event.start_mark.index)
            return self._odd_key(node, event, merges=False)
        if isinstance(value, bool) and event.value.lower() != text:
            message = f"the key {event.value} reads as {text} (YAML 1.1, as kubectl reads it); quote it if it is meant as text"
            self.findings.error("yaml/truth-key", message, event.start_mark.index, "warning")
        if text in node:
            self.findings.duplicate((*_path(stack), text), event.start_mark.index)
        else:
            return text
        return self._odd_key(node, event, merges=False)

    def _no_key(self, value: Any, event: Event) -> str:
        """Returns why a value cannot be a key. Unquoted `{{ x }}` parses as a mapping with a mapping as its key: a template."""
        from grove_compiler.source.yaml_syntax import UNRENDERED, is_template  # only for what is wrong

        if isinstance(value, dict) and is_template(self.findings.text, self.findings.base + event.start_mark.index):
            return UNRENDERED
        what = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "null"
        return f"a key must be text, this one is {what}; quote it if it is meant as text"

    def _odd_key(self, node: dict[Any, Any], event: Event, merges: bool) -> OddKey:
        self.odd.add(id(node))
        return OddKey(merges, event)

    def _settle(self, node: dict[Any, Any]) -> None:
        """Drops the odd keys of a finished mapping, and merges the values of its merge keys.

        As in kubectl, a merge key overrides the entries before it and is overridden by those after it.
        """
        entries = list(node.items())
        node.clear()
        for key, value in entries:
            if not isinstance(key, OddKey):
                node[key] = value
            elif key.merges:
                self._merge(node, key, value)

    def _merge(self, node: dict[Any, Any], key: OddKey, value: Any) -> None:
        offset = key.event.start_mark.index
        mappings = value if isinstance(value, list) else [value]
        if not all(isinstance(mapping, dict) for mapping in mappings):
            self.findings.error("yaml/merge", "the value of '<<' must be a mapping or a list of mappings", offset)
            return
        merged: dict[Any, Any] = {}
        for mapping in reversed(mappings):
            merged.update(mapping)
        self.nodes += len(merged)
        replaced = [name for name in merged if name in node]
        if replaced:
            message = f"'<<' replaces {', '.join(map(repr, replaced[:3]))} above it for kubectl, but not for YAML 1.1; put '<<' first"
            self.findings.error("yaml/merge-order", message, offset, "warning")
        node.update(merged)

    def _refuse_depth(self, event: Event) -> NoReturn:
        message = f"nested more than {self.limits.depth} levels deep; no Kubernetes object is"
        self.findings.error("yaml/too-deep", message, event.start_mark.index)
        raise LimitExceeded

    def _refuse_nodes(self, event: Event | None) -> NoReturn:
        message = f"more than {self.limits.nodes} values or {self.limits.size} characters once aliases are expanded; split the file"
        self.findings.error("yaml/too-large", message, event.start_mark.index if event else self.findings.end)
        raise LimitExceeded


def _path(stack: list[Frame]) -> tuple[str | int, ...]:
    """Returns the field path of the open container, from the frames below the root's."""
    return tuple(len(container) if append else key for container, append, key in stack[1:] if append or isinstance(key, str))
