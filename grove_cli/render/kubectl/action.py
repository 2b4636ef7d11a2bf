"""Parses one action of a JSONPath template, what stands between its braces."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field as default

from grove_cli.render.kubectl.steps import Path, Step, between, comparing, descendants, field, having, index, literal, union, wildcard
from grove_cli.render.kubectl.values import InvalidExpression
from grove_compiler.record import record

RANGE, RANGE_END = "range", "end"
WORDS = {"true": True, "false": False}

IGNORED = re.compile(r"[ @$]+")
FIELD = re.compile(r"(?:\\.|[^\s.,\[\]$@{}\\])*")
NUMBER = re.compile(r"[-+]?[\d.]+")
QUOTED = re.compile(r"""(["'])((?:\\.|(?!\1)[^\\\n])*)\1""")
FILTER = re.compile(r"""\[\?\(((?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[^)"'\n])*)\)""")
COMPARISON = re.compile(r"([^!<>=]+)([!<>=~]+)(.+)")
SLICE = re.compile(r"(-?\d*)(?:(:)(-?\d*))?(?::(-?\d*))?")
KEY = re.compile(r"'([^']*)'")
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


@record
class TemplateAction:
    """The steps of an action. `word` is `range` or `end` for the parts of a loop, and empty for others."""

    path: list[Step] = default(default_factory=list)
    word: str = ""


class Scanner:
    """Parses the action at a position, which is behind its end afterwards. Raises `InvalidExpression`."""

    def __init__(self, text: str, position: int = 0) -> None:
        self._text, self.position = text, position
        self._by_start: tuple[tuple[str, Callable[[TemplateAction], None]], ...] = (
            ("[?(", self._filter),
            ("..", self._descent),
            ("[", self._brackets),
            (".", self._field),
            ('"', self._quoted),
            ("'", self._quoted),
        )

    def action(self) -> TemplateAction:
        """Returns the action up to its closing brace."""
        action = TemplateAction()
        while True:
            self._take(IGNORED)
            if self._at("\n") or self._at("\r") or self.position >= len(self._text):
                raise InvalidExpression("unclosed action")
            if self._skip("}"):
                return action
            next((parse for start, parse in self._by_start if self._at(start)), self._word)(action)

    def _filter(self, action: TemplateAction) -> None:
        found = self._take(FILTER)
        if found is None:
            raise InvalidExpression("unterminated filter")
        if not self._skip("]"):
            raise InvalidExpression("unclosed array expect ]")
        comparison = COMPARISON.fullmatch(found[1])
        if comparison is None:
            action.path.append(having(_path(found[1])))
        else:
            left, sign, right = comparison.groups()
            action.path.append(comparing(_path(left), sign, _path(right)))

    def _descent(self, action: TemplateAction) -> None:
        self.position += len("..")
        if self._at(".."):
            raise InvalidExpression("invalid multiple recursive descent")
        action.path.append(descendants)
        if self.position < len(self._text) and (self._text[self.position].isalnum() or self._at("_")):
            action.path.append(self._name())

    def _brackets(self, action: TemplateAction) -> None:
        end = self._text.find("]", self.position)
        if end < 0:
            raise InvalidExpression("unterminated array")
        inner = self._text[self.position + 1 : end]
        self.position = end + 1
        parts = inner.split(",")
        action.path.append(_element(inner) if len(parts) == 1 else union([[_element(part.strip(" "))] for part in parts]))

    def _field(self, action: TemplateAction) -> None:
        self.position += 1
        action.path.append(self._name())

    def _name(self) -> Step:
        found = self._take(FIELD)
        name = found[0] if found else ""
        return wildcard if name == "*" else field(name.replace("\\", ""))

    def _quoted(self, action: TemplateAction) -> None:
        found = self._take(QUOTED)
        if found is None:
            raise InvalidExpression("unterminated quoted string")
        text = ESCAPE.sub(_unescaped, found[2])
        action.path.append(literal(text))

    def _word(self, action: TemplateAction) -> None:
        first = self._text[self.position]
        if first in "+-" or first.isdigit():
            action.path.append(literal(_number(self._take(NUMBER))))
            return
        if not (first.isalpha() or first == "_"):
            raise InvalidExpression(f"unrecognized character in action: U+{ord(first):04X} {first!r}")
        found = self._take(FIELD)
        word = found[0] if found else ""
        if word in WORDS:
            action.path.append(literal(WORDS[word]))
        elif word in (RANGE, RANGE_END):
            action.word = word
        else:
            raise InvalidExpression(f"unrecognized identifier {word}")

    def _at(self, text: str) -> bool:
        return self._text.startswith(text, self.position)

    def _skip(self, text: str) -> bool:
        is_there = self._at(text)
        self.position += len(text) if is_there else 0
        return is_there

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self.position)
        self.position = found.end() if found else self.position
        return found


def _unescaped(escape: re.Match[str]) -> str:
    code, letter = escape[1] or escape[2], escape[3]
    return chr(int(code, 16)) if code else ESCAPES.get(letter, letter)


def _path(text: str) -> Path:
    """Returns the path on one side of a comparison."""
    return Scanner(text + "}").action().path


def _element(text: str) -> Step:
    """Returns the step of what stands between brackets: `*`, a key in quotes, a number or a slice."""
    if text == "*":
        return between(None, None, None)
    if key := KEY.fullmatch(text):
        return union([_path(f".{key[1]}")])  # a path, whose dots may be escaped
    found = SLICE.fullmatch(text)
    if found is None:
        raise InvalidExpression(f"invalid array index {text}")
    start, colon, end, step = found.groups()
    if not colon:
        return index(_bound(start) or 0)
    return between(_bound(start), _bound(end), _bound(step))


def _bound(text: str | None) -> int | None:
    if not text:
        return None
    if text == "-":
        raise InvalidExpression("array index - is not a number")
    return int(text)


def _number(found: re.Match[str] | None) -> int | float:
    text = found[0] if found else "+"
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise InvalidExpression(f"cannot parse number {text}") from None
