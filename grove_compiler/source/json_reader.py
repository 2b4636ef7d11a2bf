"""Reads JSON text to plain values with places; reports every error as a diagnostic."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.source.document import Document, Origin, PlaceNode, position
from grove_compiler.source.findings import DEFAULT_LIMITS, Findings, LimitExceeded, Limits
from grove_compiler.source.scalars import MAX_NUMBER_LENGTH, shorten

_INFINITY = float("inf")
_MEANINGS = {
    "Expecting ',' delimiter": "a comma is missing before this",
    "Expecting ':' delimiter": "a ':' is missing between the key and this",
    "Expecting value": "a value cannot begin like this; text must be in double quotes",
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected here; no comma after the last entry",
    "Invalid control character at": "a line break or control character inside quotes; write it as an escape, such as \\n",
    "Invalid \\escape": "an unknown escape; write a backslash as \\\\",
    "Invalid \\uXXXX escape": "a \\u escape without four hexadecimal digits",
}
_CONSTANTS = ("NaN", "Infinity", "-Infinity")
_BLANK = r"[ \t\n\r]*"
_BLANK_OR_SEPARATOR = r"(?:[ \t\n\r]|^---(?=[ \t\r]*$))*"  # with re.MULTILINE


def read_json(text: str, file: str, limits: Limits = DEFAULT_LIMITS, *, separated: bool = False) -> tuple[list[Document], list[Diagnostic]]:
    """Returns the values of a JSON text, which may be several in a row, and its diagnostics, in the order of the text.

    With `separated`, lines of `---` may stand between them, as in a YAML file whose documents are written in JSON. Never raises. After a
    syntax error (`json/syntax`) the values before it are returned; a value with another error (a duplicate key, NaN) is returned for
    further checks, but must not be used.
    """
    text = text.removeprefix("\ufeff")
    is_too_large = len(text) > limits.size
    findings = Findings("" if is_too_large else text, file, limits.findings)  # which would be looked through for line 1
    documents: list[Document] = []
    try:
        if is_too_large:
            findings.error("json/too-large", f"{len(text)} characters are more than {limits.size}; split the file", 0)
        else:
            _Reader(text, findings, limits, separated).read(documents)
    except LimitExceeded:
        pass
    return documents, findings.diagnostics()


class _Reader:
    """Reads one file. `suspicious` marks a value with an error whose place only a scan of its text can find."""

    def __init__(self, text: str, findings: Findings, limits: Limits, separated: bool) -> None:
        # Only a run with JSON input needs them.
        import re
        from json import JSONDecoder

        self.text = text
        self.findings = findings
        self.limits = limits
        self.between = re.compile(_BLANK_OR_SEPARATOR if separated else _BLANK, re.MULTILINE)
        self.nodes = 0
        self.suspicious = False
        self.decoder = JSONDecoder(object_pairs_hook=self._object, parse_float=self._float, parse_constant=self._constant)

    def read(self, documents: list[Document]) -> None:
        line, previous = 1, 0
        start = self._next(0)
        half_characters = "\\ud" in self.text or "\\uD" in self.text or not _is_encodable(self.text)
        while start < len(self.text):
            self.suspicious = half_characters
            decoded = self._decode(start)
            if decoded is None:
                return
            value, end = decoded
            line += position(self.text, previous, start)[0] - 1
            previous = start
            if self.suspicious:
                self._inspect(start, end)
            if value is not None:
                if len(documents) >= self.limits.documents:
                    self.findings.error("json/too-large", f"more than {self.limits.documents} values in a row; split the file", start)
                    raise LimitExceeded
                origin = Origin(self.text, start, end, line, _scan)
                documents.append(Document(value, self.findings.file, len(documents), line, origin))
            start = self._next(end)

    def _next(self, offset: int) -> int:
        """Returns where the next value begins."""
        between = self.between.match(self.text, offset)
        return between.end() if between else offset

    def _decode(self, start: int) -> tuple[Any, int] | None:
        """Returns the value that begins at `start` and where it ends; None after an error that ends the reading."""
        from json import JSONDecodeError

        try:
            value, end = self.decoder.raw_decode(self.text, start)
        except RecursionError:
            self._too_deep(start)
        except JSONDecodeError as error:
            self.findings.error("json/syntax", _meaning(self.text, error.msg, error.pos), error.pos)
        except ValueError:
            self._inspect(start, len(self.text))  # a number of more digits than Python converts
        else:
            return (value, end) if self._is_within_limits(value, start) else None
        return None

    def _is_within_limits(self, value: Any, start: int) -> bool:
        level = [value]
        for _ in range(self.limits.depth + 1):
            level = [child for child in level if isinstance(child, dict | list)]
            if not level:
                break
            self.nodes += sum(map(len, level))
            level = [item for child in level for item in (child.values() if isinstance(child, dict) else child)]
        else:
            self._too_deep(start)
            return False
        self.nodes += 1
        if self.nodes > self.limits.nodes:
            self.findings.error("json/too-large", f"more than {self.limits.nodes} values; split the file", start)
            return False
        return True

    def _too_deep(self, start: int) -> None:
        message = f"nested more than {self.limits.depth} levels deep; no Kubernetes object is"
        self.findings.error("json/too-deep", message, start)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self.suspicious = True
        return value

    def _float(self, text: str) -> float:
        value = float(text)
        if value in (float("inf"), float("-inf")):
            self.suspicious = True
        # As in YAML: Go writes a whole float without a point, so what an API server stores of 2.0 is an integer.
        return int(value) if value.is_integer() and abs(value) < 2**63 else value

    def _constant(self, _: str) -> None:
        self.suspicious = True

    def _inspect(self, start: int, end: int) -> None:
        """Scans the text of one value for errors that the decoder accepts, or fails on without a place, and that Kubernetes rejects."""
        from grove_compiler.source.json_places import json_places

        def duplicate(path: FieldPath, offset: int) -> None:
            self.findings.duplicate(path, start + offset)

        def scalar(token: str, offset: int) -> None:
            error = _scalar_error(token)
            if error:
                self.findings.error(*error, start + offset)

        try:
            json_places(self.text[start:end], scalar, duplicate)
        finally:  # also reports the duplicates that were found before the limit was exceeded
            self.findings.settle_duplicates("json/duplicate-key", start, end, _scan)


def _scalar_error(token: str) -> tuple[str, str] | None:
    """Returns the code and the message for a scalar that Kubernetes rejects; None for a valid one."""
    if token[0] == '"':
        from json import loads

        if _is_encodable(loads(token, strict=False)):
            return None
        return "json/character", "half of a surrogate pair, which is not text; write the whole character"
    if token in _CONSTANTS:
        return "json/number", f"{token} is not a number that JSON can hold"
    if len(token) > MAX_NUMBER_LENGTH or (token[0] not in "tfn" and not -_INFINITY < float(token) < _INFINITY):
        return "json/number", f"{shorten(token)} is too large for a number; put it in quotes if it is meant as text"
    return None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _meaning(text: str, problem: str, offset: int) -> str:
    """Returns a message for the decoder's error, with what would be right."""
    character = text[offset : offset + 1]
    if not character or problem.startswith("Unterminated string"):
        return "the text ends before the value does" if not character else "the quoted text that begins here is never closed"
    if problem == "Expecting value" and character in "]}":
        return f"a value is missing before {character!r}; JSON allows no comma after the last one"
    return _MEANINGS.get(problem, f"{problem[0].lower()}{problem[1:]}")


def _scan(text: str) -> PlaceNode:
    # Only a diagnostic or `explain` asks for places.
    from grove_compiler.source.json_places import json_places

    return json_places(text)
