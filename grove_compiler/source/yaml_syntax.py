"""Translates libyaml's syntax errors into plain messages. Only imported when there is an error."""

from __future__ import annotations

import re

from yaml.error import MarkedYAMLError

from grove_compiler.source.findings import Findings

# YAML 1.1 §4.1.1: characters that are not printable are invalid, even in quotes.
_INVALID = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NEXT_DOCUMENT = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)

# Messages of libyaml, with their meaning in a manifest and how to correct it.
_MEANINGS = {
    "mapping values are not allowed in this context": (
        "a ':' where no mapping can begin; check the indentation, or quote the value if ': ' is part of it"
    ),
    "could not find expected ':'": "a key without ':'; add 'key: value', or indent the line if it continues the value above",
    "did not find expected key": "this line is not indented like the keys of any mapping above it; align it with them",
    "did not find expected '-' indicator": "this line is neither an item of the list above nor indented like its key; align it",
    "did not find expected ',' or ']'": "a list in brackets is not closed, or a comma is missing before this",
    "did not find expected ',' or '}'": "a mapping in braces is not closed, or a comma is missing before this",
    "did not find expected node content": "a value is missing before this",
    "did not find expected <document start>": "text after the end of a document; begin the next document with a line '---'",
    "found unexpected end of stream": "the quoted text that begins here is never closed; close the quote",
    "found unexpected document indicator": "the quoted text that begins here is open at the document's end; close the quote",
    "block sequence entries are not allowed in this context": "a list item '- ' cannot begin here; put it on a line of its own",
    "block mapping entries are not allowed in this context": "a '? ' key cannot begin here; put it on a line of its own",
    "mapping keys are not allowed in this context": "a '? ' key cannot begin here; put it on a line of its own",
    "found unknown escape character": "an unknown escape in double quotes; write a backslash as '\\\\', or use single quotes",
    "did not find expected hexdecimal number": "a \\x, \\u or \\U escape without enough hexadecimal digits",
    "found invalid Unicode character escape code": "an escape of half a character; write it whole, as \\U and eight digits",
    "found undefined tag handle": "a tag whose handle no %TAG directive declares; Kubernetes objects have no tags: remove it",
    "found a tab character that violates indentation": "a tab in the indentation; indent with spaces",
    "found a tab character where an indentation space is expected": "a tab in the indentation; indent with spaces",
    "found incompatible YAML document": "a %YAML directive for a version other than 1.1 or 1.2; remove the line",
}
UNRENDERED = "a '{{' outside quotes is not YAML; quote it, or render the template first, as with `helm template`"
_SINCE_CONTEXT = ("did not find expected ',' or ']'", "did not find expected ',' or '}'")
# libyaml reports these on a later line than the one to correct, for example for `{{- if … }}` between two keys of a chart.
_AT_CONTEXT = ("found unexpected end of stream", "found unexpected document indicator", "could not find expected ':'")


def syntax_error(findings: Findings, error: MarkedYAMLError) -> int:
    """Adds a finding for an error of libyaml; returns the offset in the file at which it stopped."""
    problem, mark = error.problem or "this is not YAML", error.problem_mark
    failed = mark.index if mark is not None else findings.end
    place = failed
    if problem in _AT_CONTEXT and error.context_mark is not None:
        place = error.context_mark.index
    code, message = _explain(findings.text[findings.base + failed : findings.base + failed + 1], problem, error.context)
    if is_template(findings.text, findings.base + place):
        message = f"{UNRENDERED} ({message})"
    if problem in _SINCE_CONTEXT and error.context_mark is not None:
        message += f"; it opens in line {findings.position(findings.base + error.context_mark.index)[0]}"
    findings.error(code, message, place)
    return findings.base + failed


def next_document(text: str, offset: int) -> int | None:
    """Returns the offset of the next line `---` at or after `offset`, where reading can continue; None without one."""
    match = _NEXT_DOCUMENT.search(text, offset)
    return match.start() if match else None


def invalid_characters(findings: Findings) -> str:
    """Adds a finding for each character that YAML forbids; returns the text with replacements of the same length."""
    text = findings.text
    for match in _INVALID.finditer(text):
        findings.error("yaml/character", _character(match.group()), match.start())
    return _INVALID.sub("\N{REPLACEMENT CHARACTER}", text)


def _explain(character: str, problem: str, context: str | None) -> tuple[str, str]:
    if problem == "found character that cannot start any token":
        if character == "\t":
            return "yaml/tab", "a tab where YAML requires spaces; indent with spaces"
        return "yaml/syntax", f"a value cannot begin with {character!r}; quote it"
    message = _MEANINGS.get(problem)
    if message is None:
        message = f"{context}: {problem}" if context else problem
    return ("yaml/tab" if "a tab" in problem else "yaml/syntax"), message


def is_template(text: str, offset: int) -> bool:
    """Reports whether the line at the offset contains an unquoted `{{`, which Helm would have replaced."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset + 200].partition("\n")[0]
    before, braces, _ = line.partition("{{")
    return bool(braces) and not any(mark in before for mark in "\"'#")


def _character(character: str) -> str:
    code = ord(character)
    if code == 0:
        return "the character NUL is not text; is this a binary file?"
    if 0xD800 <= code <= 0xDFFF:
        return f"half a character (the surrogate U+{code:04X}); save the file as UTF-8"
    escape = f"\\x{code:02X}" if code <= 0xFF else f"\\u{code:04X}"
    return f'the control character U+{code:04X} is not allowed in YAML; write it as "{escape}" in double quotes'
