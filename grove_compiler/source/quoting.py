"""Quotes texts for YAML so that every reader, of YAML 1.1 or 1.2, reads the same text back."""

from __future__ import annotations

import re

# Texts that need no quotes: nothing in them can be parsed as a comment, a mapping, an indicator or a document mark. They may begin with a
# digit; `_NUMERIC` excludes those that some reader parses as a number, a time (base 60 in YAML 1.1) or a date.
_SAFE = r"[A-Za-z0-9_./@+=,()$%&*!?<>;~|'\"-]"
_PLAIN = re.compile(rf"(?:--?[A-Za-z]|[A-Za-z0-9_/$(]){_SAFE}*(?:(?: +|:){_SAFE}+)*")
_NUMERIC = re.compile(r"0[xXoObB][0-9a-fA-F_]*|[0-9][0-9_.,:]*(?:[eE][-+]?[0-9_.:]*)?|[0-9]{4}-[0-9]{1,2}-[0-9].*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "infinity", "nan"))

# Characters that must be escaped: those that YAML forbids or treats as line breaks, and invisible ones (soft hyphens, direction and byte
# order marks, tags). Zero-width joiners are not escaped, since emoji contain them.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff"
)
# Compiled lazily, by `re` and its cache: it takes as long as writing a small set, and most manifests are printable ASCII.
_ESCAPED = f'["\\\\\t\n{_HIDDEN}]'
_NO_LITERAL = f"[{_HIDDEN}]"
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\x1b": "\\e"}


def is_plain(text: str) -> bool:
    """Reports whether a text may stand without quotes."""
    if _PLAIN.fullmatch(text) is None:
        return False
    if text[0].isdigit():
        return _NUMERIC.fullmatch(text) is None
    return len(text) > 10 or text.lstrip("-").lower() not in _WORDS


def quoted(text: str) -> str:
    """Returns the text in double quotes. Half of a surrogate pair, which YAML cannot hold, becomes U+FFFD, as in Go."""
    if text.isascii() and text.isprintable():
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return '"' + re.sub(_ESCAPED, _escape, text) + '"'


def on_one_line(text: str) -> str:
    """Returns the text as a plain or a double-quoted scalar."""
    return text if is_plain(text) else quoted(text)


def is_literal(text: str) -> bool:
    """Reports whether a text of several lines may stand as a literal block: its first line shows the indentation, nothing is hidden."""
    first = text.lstrip("\n")[:1]
    if first in ("", " ", "\t"):
        return False
    printable = text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()
    return printable or re.search(_NO_LITERAL, text) is None


def literal(text: str, indent: int) -> str:
    """Returns the text as a literal block from `|` on, its lines indented by `indent` spaces. Requires `is_literal(text)`."""
    body = text.rstrip("\n")
    ending = len(text) - len(body)
    header = "|-" if ending == 0 else "|" if ending == 1 else "|+"
    pad = " " * indent
    lines = "\n".join([pad + line if line else "" for line in body.split("\n")])
    return header + "\n" + lines + "\n" * (ending - 1)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
