"""Walks values to be written, also rare ones, and caches the text of containers that many objects share, for YAML and JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

MAX_CACHED_LENGTH = 128
"""The longest text that is cached; longer ones are seldom repeated."""


def _references_of_an_entry(node: dict[str, Any]) -> int:
    for _, value in node.items():  # noqa: PERF102  # the same loop as the walker's, for the same count of references
        return getrefcount(value)
    return 0


def _references_of_an_item(node: list[Any]) -> int:
    for value in node:
        return getrefcount(value)
    return 0


# The result of `getrefcount`, inside such a loop, for a container that only its parent holds. It differs between versions of Python.
# A container with more references may be shared; treating an unshared one as shared costs memory, never correctness. Pods of a clique
# share nearly all of their manifests: without this, writing 10,000 of them takes five times as long.
_UNSHARED_ENTRY = _references_of_an_entry({"": {}})
_UNSHARED_ITEM = _references_of_an_item([{}])


TOO_DEEP = "nested too deep to be written, or containing itself"


class LongKey(Exception):
    """Signals that a mapping has a key that is too long to be written before a colon."""


class Texts(dict[str, str], ABC):
    """Caches texts as they are written, keys with their colon."""

    def __missing__(self, text: str) -> str:
        if not isinstance(text, str):
            raise TypeError(f"a key must be text, not {type(text).__name__}: {text!r}")
        written = self.encode(text)
        if len(text) <= MAX_CACHED_LENGTH:
            self[text] = written
        return written

    @abstractmethod
    def encode(self, text: str) -> str:
        """Returns the text in the output format."""


class Walker(ABC):
    """Renders containers to text whose first line has no indentation, since the parent writes what is before it.

    Subclasses define texts, indentation and how containers are joined. They are called once per container, because calls dominate the cost.
    """

    step: int
    """Columns of indentation per level."""
    list_step: int
    """The same for a list that is the value of a key."""
    deepest: int
    """The most columns: a deeper value contains itself, or is rejected by every reader."""

    def __init__(self, keys: Texts, strings: Texts, gaps: Sequence[str]) -> None:
        """`gaps` is the text between a key and the container that is its value, by the container's indentation."""
        self.keys, self.strings, self.gaps = keys, strings, gaps
        self.texts: dict[tuple[int, int], str] = {}
        self._held: list[Any] = []  # keeps cached containers alive, so that no id is reused

    @abstractmethod
    def join_mapping(self, parts: Sequence[str], indent: int) -> str:
        """Joins the entries of a mapping, whose own lines are indented already."""

    @abstractmethod
    def join_list(self, parts: Sequence[str], indent: int) -> str:
        """Joins the items of a list."""

    def block(self, text: str, _: int) -> str:
        """Returns a text that depends on the indentation, for which `strings` returns `""`: none does, unless a subclass says so."""
        return self.strings.encode(text)

    def with_long_keys(self, node: dict[str, Any], _: int) -> str:
        """Returns the text of a mapping that has a key for which `keys` raises `LongKey`, where the format can write it."""
        raise LongKey(next(iter(node)))

    def mapping(self, node: dict[str, Any], indent: int) -> str:
        """Returns the text of a mapping that is not empty. Raises `TypeError` and `ValueError` for what cannot be written."""
        if indent > self.deepest:
            raise ValueError(TOO_DEEP)
        keys, strings, gaps, texts = self.keys, self.strings, self.gaps, self.texts
        inner, list_indent, parts = indent + self.step, indent + self.list_step, []
        try:
            for key, value in node.items():
                kind = value.__class__
                if kind is str:
                    parts.append(f"{keys[key]} {strings[value] or self.block(value, inner)}")
                elif kind is dict and value:
                    if getrefcount(value) > _UNSHARED_ENTRY:
                        text = texts.get((id(value), inner)) or self._remember(value, inner)
                    else:
                        text = self.mapping(value, inner)
                    parts.append(f"{keys[key]}{gaps[inner]}{text}")
                elif kind is list and value:
                    if getrefcount(value) > _UNSHARED_ENTRY:
                        text = texts.get((id(value), list_indent)) or self._remember(value, list_indent)
                    else:
                        text = self.sequence(value, list_indent)
                    parts.append(f"{keys[key]}{gaps[list_indent]}{text}")
                elif kind is int:
                    parts.append(f"{keys[key]} {value}")
                else:
                    constant_text = constant(value)
                    if constant_text is None:
                        return self.mapping({key: as_plain(value) for key, value in node.items()}, indent)
                    parts.append(f"{keys[key]} {constant_text}")
        except LongKey:
            return self.with_long_keys(node, indent)
        return self.join_mapping(parts, indent)

    def sequence(self, node: list[Any], indent: int) -> str:
        """Returns the text of a list that is not empty. Raises `TypeError` and `ValueError` for what cannot be written."""
        if indent > self.deepest:
            raise ValueError(TOO_DEEP)
        strings, texts = self.strings, self.texts
        inner, parts = indent + self.step, []
        for value in node:
            kind = value.__class__
            if kind is str:
                text = strings[value] or self.block(value, inner)
            elif (kind is dict or kind is list) and value:
                if getrefcount(value) > _UNSHARED_ITEM:
                    text = texts.get((id(value), inner)) or self._remember(value, inner)
                else:
                    text = self.mapping(value, inner) if kind is dict else self.sequence(value, inner)
            elif kind is int:
                text = str(value)
            else:
                text = constant(value) or ""
                if not text:
                    return self.sequence([as_plain(value) for value in node], indent)
            parts.append(text)
        return self.join_list(parts, indent)

    def _remember(self, node: Any, indent: int) -> str:
        text = self.mapping(node, indent) if node.__class__ is dict else self.sequence(node, indent)
        self._held.append(node)
        self.texts[id(node), indent] = text
        return text


_JSON = frozenset((str, int, float, bool, dict, list))
# `str(member)` of an enum is its name in the program, not its value.
_CONVERSIONS: dict[type, Callable[[Any], Any]] = {str: str.__str__, int: int, float: float, dict: dict, list: list, tuple: list}


def constant(value: Any) -> str | None:
    """Returns the text of null, booleans, floats and empty containers, the same in YAML and JSON; None for other values."""
    if value is None:
        return "null"
    kind = value.__class__
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return _float(value)
    if not value and kind in (dict, list):
        return "{}" if kind is dict else "[]"
    return None


def as_plain(value: Any) -> Any:
    """Converts a value to JSON's own type: an enum's member to its text, an ordered dict to a dict, a tuple to a list.

    Raises `TypeError` for a value that JSON cannot hold.
    """
    if value is None or value.__class__ in _JSON:
        return value
    for kind, convert in _CONVERSIONS.items():
        if isinstance(value, kind):
            return convert(value)
    raise TypeError(f"a {type(value).__name__} cannot be written: {value!r}")


def _float(value: float) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        raise ValueError(f"{text} is not a number that JSON can hold")
    mantissa, mark, exponent = text.partition("e")
    # YAML 1.1 takes a number with an exponent for a float only if it has a point as well.
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{mark}{exponent}"
