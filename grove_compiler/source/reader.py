"""Reads any input file: detects its encoding, and whether it is JSON or YAML."""

from __future__ import annotations

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.source.document import Document
from grove_compiler.source.findings import DEFAULT_LIMITS, Limits
from grove_compiler.source.json_reader import read_json
from grove_compiler.source.yaml_reader import read_yaml

# The longer marks first: UTF-32's little-endian mark begins like UTF-16's.
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def encoding_of(data: bytes) -> str:
    """Returns the encoding that the byte order mark of a file's content names; UTF-8 without one."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")


def read_bytes(data: bytes, file: str) -> tuple[list[Document], list[Diagnostic]]:
    """Returns the documents of a file's content, and its diagnostics. The encoding is that of the byte order mark, UTF-8 by default.

    Bytes that are invalid in that encoding are one error, `source/encoding`, with the place of the first.
    """
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        return [], [_encoding_error(data, encoding, error, file)]
    return read_text(text, file)


def read_text(text: str, file: str, limits: Limits = DEFAULT_LIMITS) -> tuple[list[Document], list[Diagnostic]]:
    """Returns the documents of a text, and its diagnostics: as JSON if the file's name or content is JSON, else as YAML.

    JSON is valid YAML, but its own parser is several times as fast, also for values with `---` between them.
    """
    if file.endswith(".json"):
        return read_json(text, file, limits)
    if _begins_like_json(text):
        documents, diagnostics = read_json(text, file, limits, separated=True)
        if not any(diagnostic.code == "json/syntax" for diagnostic in diagnostics):
            return documents, diagnostics
    return read_yaml(text, file, limits)


def _begins_like_json(text: str) -> bool:
    return text[:1000].lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def _encoding_error(data: bytes, encoding: str, error: UnicodeDecodeError, file: str) -> Diagnostic:
    before = data[: error.start].decode(encoding, "replace")
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    name = encoding.removesuffix("-sig").upper()
    message = f"the bytes here are not text in {name} ({error.reason}); save the file as UTF-8"
    return Diagnostic("source/encoding", "error", message, file=file, line=line, column=column)
