"""Makes the mutants of a file of rules: a dropped rule or condition, a negated assertion, or one changed operator in an expression.

The text is edited, not the parsed value, so that all that is not changed stays as it is, comments and lines included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from tests.benchmarks.mutation.mutant import Mutant

TOKEN = re.compile(
    r"""(?P<text>'[^']*'|"[^"]*")|(?P<comparison>==|!=|<=|>=|<|>)|(?P<number>(?<![\w.'/-])\d+(?![\w.'/-]))"""
    r"""|\b(?P<word>is\s+not|not\s+in|is|in|and|or|not)\b"""
)
NEGATED = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
    "is": "is not", "is not": "is", "in": "not in", "not in": "in",
}  # fmt: skip
MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
JOINED = {"and": "or", "or": "and"}


class _Place(NamedTuple):
    """The characters of a scalar without its quotes or its header, and whether it stands without both."""

    start: int
    end: int
    is_plain: bool


Edit = tuple[int, int, str, str]
"""The characters that are replaced, the new ones, and the kind of the fault."""


def rule_mutants(area: str, file: str, source: str) -> Iterator[Mutant]:
    """Yields all mutants of a file, in the order of its text."""
    edits = [edit for document in yaml.compose_all(source, yaml.SafeLoader) if document for edit in _document(document, source)]
    for start, end, new, kind in sorted(edits):
        above = source[:start]
        line, column = above.count("\n") + 1, start - (above.rfind("\n") + 1)
        begin = len(above.encode())
        old = " ".join(source[start:end].split())
        if kind == "rule dropped":
            change = f"{old.splitlines()[0][:60]}... is dropped"
        else:
            change = f"{old} -> {' '.join(new.split())}, in: {_line(source, start)}"
        yield Mutant(area, file, line, column, kind, begin, begin + len(source[start:end].encode()), new, change)


def _line(source: str, at: int) -> str:
    begin, end = source.rfind("\n", 0, at) + 1, source.find("\n", at)
    return source[begin : end if end >= 0 else None].strip()


def _document(document: yaml.Node, source: str) -> Iterator[Edit]:
    """Yields the edits of one rule, or of constants."""
    if not isinstance(document, yaml.MappingNode):
        return
    keys = {key.value: value for key, value in document.value}
    if "rule" in keys and "decide" not in keys:  # without a decision that the model asks for there is no program
        yield _dropped(document, source)
    for node in _scalars(keys.get("when")):
        yield _cleared(node, source)
    for node in _scalars(keys.get("assert")):
        yield _negated(node, source)
    for node in _expressions(keys):
        place = _place(node, source)
        yield from _operators(source, place.start, place.end)
    if isinstance(constants := keys.get("constants"), yaml.MappingNode):
        for _, node in constants.value:
            if node.tag.endswith(":int"):
                yield node.start_mark.index, node.end_mark.index, str(int(node.value) + 1), "number +1"


def _expressions(keys: dict[str, yaml.Node]) -> Iterator[yaml.ScalarNode]:
    """Yields what is an expression in a rule and determines what it does. What is told to people is not among it."""
    for key in ("when", "assert", "requeue"):
        yield from _scalars(keys.get(key))
    for key in ("let", "forEach"):
        if isinstance(node := keys.get(key), yaml.MappingNode):
            for _, value in node.value:
                yield from _scalars(value)
    if "decide" in keys:
        yield from _scalars(keys.get("value"))
    if isinstance(cases := keys.get("cases"), yaml.SequenceNode):
        for case in cases.value:
            if isinstance(case, yaml.MappingNode):
                for key, value in case.value:
                    if key.value == "when" or (key.value == "value" and "decide" in keys):
                        yield from _scalars(value)


def _scalars(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """Yields a scalar, or those of a list."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item)


def _place(node: yaml.ScalarNode, source: str) -> _Place:
    """Returns where the text of a scalar is."""
    start, end = node.start_mark.index, node.end_mark.index
    if node.style in ("'", '"'):
        return _Place(start + 1, end - 1, False)
    if node.style in ("|", ">"):
        start = source.index("\n", start)
    inner = source[start:end]
    return _Place(start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip()), node.style is None)


def _dropped(document: yaml.MappingNode, source: str) -> Edit:
    """Returns the edit that drops a rule, with the line that separates it from the next one, or else from the last one."""
    start, end = document.start_mark.index, document.end_mark.index
    if source.startswith("---\n", end):
        return start, end + len("---\n"), "", "rule dropped"
    return max(source.rfind("---\n", 0, start), 0), end, "", "rule dropped"


def _cleared(node: yaml.ScalarNode, source: str) -> Edit:
    place = _place(node, source)
    return place.start, place.end, '"true"' if place.is_plain else "true", "condition dropped"


def _negated(node: yaml.ScalarNode, source: str) -> Edit:
    place = _place(node, source)
    return place.start, place.end, f"not ({source[place.start : place.end]})", "assertion negated"


def _operators(source: str, begin: int, end: int) -> Iterator[Edit]:
    """Yields the edits of single operators and numbers; texts in quotes stay."""
    for token in TOKEN.finditer(source, begin, end):
        start, stop = token.span()
        word = " ".join(token[0].split())
        if word in NEGATED:
            yield start, stop, NEGATED[word], "comparison negated"
        if word in MOVED:
            yield start, stop, MOVED[word], "boundary moved"
        if word in JOINED:
            yield start, stop, JOINED[word], "and/or swapped"
        if word == "not" and source[stop : stop + 1].isspace():
            yield start, stop + 1, "", "not dropped"
        if token["number"]:
            yield start, stop, str(int(word) + 1), "number +1"
