"""Reads YAML text to plain values with places, as kubectl does; reports every error as a diagnostic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.source.document import Document, Origin, PlaceNode, position
from grove_compiler.source.findings import DEFAULT_LIMITS, Findings, LimitExceeded, Limits

if TYPE_CHECKING:
    from grove_compiler.source.yaml_builder import Builder

SYNTAX_ERRORS = 20
"""After this many syntax errors the rest of a file is not read, because each restart costs time that grows with the file."""

TAG_DIRECTIVES = 100
"""The most %TAG directives: libyaml compares each with all before it, which is quadratic."""

LATER_MARKS = re.compile(r"^(---.*\n)\ufeff|^\ufeff(?=---)", re.MULTILINE)
"""Byte order marks before the first line of a document that is not the first of its text."""


def read_yaml(text: str, file: str, limits: Limits = DEFAULT_LIMITS) -> tuple[list[Document], list[Diagnostic]]:
    """Returns the documents of a YAML text, without empty ones, and its diagnostics, in the order of the text.

    Never raises. A document with a syntax error is left out, and reading continues at the next `---`; one with another error (a duplicate
    key, an unknown tag) is returned for further checks, but must not be used.
    """
    text = text.removeprefix("\ufeff")
    if "\n\ufeff" in text:  # files that were joined, each with its byte order mark
        text = LATER_MARKS.sub(r"\1", text)
    is_too_large = len(text) > limits.size
    reader = _Reader("" if is_too_large else text, file, limits)  # which would be looked through for line 1
    if is_too_large:
        reader.findings.error("yaml/too-large", f"{len(text)} characters are more than {limits.size}; split the file", 0)
    elif text.count("%TAG") > TAG_DIRECTIVES:
        reader.findings.error("yaml/too-large", f"more than {TAG_DIRECTIVES} %TAG directives; write tags in full", 0)
    else:
        reader.read()
    return reader.documents, reader.findings.diagnostics()


class _Reader:
    def __init__(self, text: str, file: str, limits: Limits) -> None:
        self.text = text
        self.limits = limits
        self.findings = Findings(text, file, limits.findings)
        self.documents: list[Document] = []
        self.document = 0  # the offset of the document that is being read

    def read(self) -> None:
        # PyYAML takes a tenth of the start-up; a run that reads only JSON or cached rules does without.
        from grove_compiler.source.pyyaml import import_pyyaml

        import_pyyaml()
        from yaml.reader import ReaderError

        try:
            try:
                self._stream()
            except (ReaderError, UnicodeEncodeError):
                self._without_invalid_characters()
        except LimitExceeded:
            pass
        self._settle(len(self.text))

    def _stream(self) -> None:
        """Parses from the beginning and, after each syntax error, again from the next document."""
        from yaml.error import MarkedYAMLError

        start: int | None = 0
        for _ in range(SYNTAX_ERRORS):
            if start is None:
                break
            try:
                self._parse(start, position(self.text, 0, start)[0])
                break
            except MarkedYAMLError as error:
                from grove_compiler.source.yaml_syntax import next_document, syntax_error

                failed = syntax_error(self.findings, error)
                self._settle(failed)
                start = next_document(self.text, failed)

    def _parse(self, start: int, line: int) -> None:
        """Reads the documents from `start`, which is where the given line begins. Raises `MarkedYAMLError`."""
        from yaml._yaml import CParser
        from yaml.events import DocumentStartEvent

        from grove_compiler.source.yaml_builder import Builder

        self.findings.base = self.document = start
        parser = CParser(self.text[start:] if start else self.text)
        events: Iterator[Any] = islice(iter(parser.get_event, None), self.limits.nodes)
        builder = Builder(self.findings, self.limits)
        for event in events:
            if isinstance(event, DocumentStartEvent):
                self._document(builder, events, event, start, line)

    def _document(self, builder: Builder, events: Iterator[Any], first: Any, start: int, line: int) -> None:
        root: list[Any] = []
        mark = first.start_mark
        self.document = start + mark.index - mark.column
        content = list(islice(events, 1))
        last = builder.document(chain(content, events), root)
        end = start + last.end_mark.index
        self._settle(end)
        if root[0] is not None:
            if len(self.documents) >= self.limits.documents:
                self.findings.error("yaml/too-large", f"more than {self.limits.documents} documents; split the file", mark.index)
                raise LimitExceeded
            origin = Origin(self.text, self.document, end, line + mark.line, _scan)
            self.documents.append(Document(root[0], self.findings.file, len(self.documents), line + content[0].start_mark.line, origin))

    def _settle(self, end: int) -> None:
        self.findings.settle_duplicates("yaml/duplicate-key", self.document, end, _scan)

    def _without_invalid_characters(self) -> None:
        """Reports the characters that YAML forbids, and reads the text again with replacements for them."""
        from grove_compiler.source.yaml_syntax import invalid_characters

        self.findings.collected.clear()
        self.findings.duplicates.clear()
        self.documents.clear()
        self.findings.base = 0
        self.text = self.findings.text = invalid_characters(self.findings)
        self._stream()


def _scan(text: str) -> PlaceNode:
    # Only a diagnostic or `explain` asks for places.
    from grove_compiler.source.yaml_places import yaml_places

    return yaml_places(text)
