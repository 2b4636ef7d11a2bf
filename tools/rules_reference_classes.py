"""Documents the classes that rules can reach from their names, as Markdown: each attribute with its type and docstring."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Iterable, Iterator
from typing import Any

from grove_compiler.engine.expressions import model_types, types
from grove_compiler.engine.expressions.model_types import Words, signature_in_rules

_WORDS = {str: "text", int: "number", float: "number", bool: "boolean", type(None): "none", Any: "anything"}


def reachable_classes(starts: Iterable[Any]) -> list[type]:
    """Returns every model class that can be reached through attributes and results of methods, in order of discovery."""
    reached: dict[type, None] = {}
    waiting = [owner for start in starts for owner in _classes_in(start)]
    while waiting:
        owner = waiting.pop(0)
        if owner not in reached:
            reached[owner] = None
            waiting += [part for name in model_types.public_names(owner) for part in _classes_in(_member_type(owner, name))]
    return list(reached)


def document_classes(classes: list[type], words: Words) -> str:
    """Returns a Markdown section for each class, in alphabetical order; `words` are what rules call parameters."""
    names = [owner.__name__ for owner in classes]
    text = "## Classes\n\nThe classes of the values above. Any other attribute is an error when rules are loaded.\n"
    for owner in sorted(classes, key=lambda owner: owner.__name__):
        doc = _paragraph(_own_doc(owner))
        text += f"\n### {owner.__name__}\n\n" + (f"{doc}\n\n" if doc else "") + "| attribute | type | meaning |\n| --- | --- | --- |\n"
        for name in model_types.public_names(owner):
            kind = type_words(_member_type(owner, name), names)
            text += f"| `{_with_arguments(owner, name, words)}` | {kind} | {_member_doc(owner, name)} |\n"
    return text


def type_words(annotation: Any, classes: Iterable[str] = ()) -> str:
    """Returns a type in words; the name of a class among `classes` becomes a link to its section."""
    if annotation in _WORDS:
        return _WORDS[annotation]
    inner = types.without_none(annotation)
    if types.is_optional(annotation):
        return f"{type_words(inner, classes)} or none"
    if types.is_mapping(inner):
        value = types.value_type(inner)
        return "map" if value is Any else f"map of {type_words(value, classes)}"
    if types.is_model(inner):
        return f"[{inner.__name__}](#{inner.__name__.lower()})" if inner.__name__ in classes else inner.__name__
    item = types.item_type(inner)
    return "list" if item is Any else f"list of {type_words(item, classes)}"


def _classes_in(annotation: Any) -> Iterator[type]:
    inner = types.without_none(annotation)
    if types.is_model(inner):
        yield inner
    for argument in typing.get_args(inner):
        if argument is not Ellipsis:
            yield from _classes_in(argument)


def _member(owner: type, name: str) -> Any:
    return inspect.getattr_static(owner, name, None)


def _member_type(owner: type, name: str) -> Any:
    try:
        return model_types.attribute(owner, name)
    except AttributeError:
        return model_types.method(owner, name)


def _with_arguments(owner: type, name: str, words: Words) -> str:
    member = _member(owner, name)
    if not inspect.isfunction(member):
        return name
    return f"{name}({', '.join(list(signature_in_rules(member, words).parameters)[1:])})"


def _member_doc(owner: type, name: str) -> str:
    member = _member(owner, name)
    if isinstance(member, property | functools.cached_property) or inspect.isfunction(member):
        return _paragraph(inspect.getdoc(member)).replace("|", "\\|")
    return ""


def _own_doc(owner: type) -> str:
    """Returns the docstring of a class; empty for the signature that dataclasses write where there is none."""
    doc = owner.__doc__ or ""
    return "" if doc.startswith(f"{owner.__name__}(") else inspect.cleandoc(doc)


def _paragraph(doc: str | None) -> str:
    return " ".join((doc or "").split("\n\n")[0].split())
