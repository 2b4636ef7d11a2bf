"""Finds the parts of an input that may be a Secret, so that diagnostics show neither their lines nor their values.

The input often cannot be parsed, which is what the diagnostic is about. So the text itself is searched, and anything doubtful is hidden: a
missing excerpt is a minor inconvenience, a displayed password is not.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_SEPARATOR = re.compile(r"^(?:---|\.\.\.)(?=\s|\Z)", re.MULTILINE)
_MENTION = re.compile(
    r"\bSecret(?:List)?\b"
    r"|\bstringData\b"
    r"|(?i:\bkind\b[\"']?\s*:\s*(?:[!&]\S*\s+)*[\"']?secret)"  # misspelt: the server rejects it, but its values are secret
    r"|[!:]binary\b|^%TAG\b",  # with these, any word can be written in base64
    re.MULTILINE,
)
_KIND = re.compile(r"\bkind\b[\"']?\s*:")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|U([0-9A-Fa-f]{8})|\r?\n[ \t]*)")

_WITHOUT_VALUES = {
    "yaml/number": "a number that JSON cannot hold; quote it if it is meant as text",
    "json/number": "a number that JSON cannot hold; put it in quotes if it is meant as text",
    "yaml/tag": "a tag (a value that begins with '!') that is unknown or does not fit; quote the value if it is meant as text",
    "yaml/unknown-alias": "an alias (a value that begins with '*') without an anchor; quote the value if it is meant as text",
    "yaml/cyclic-alias": "an alias is inside the value that it refers to, which would never end",
    "yaml/merge-order": "'<<' replaces keys above it for kubectl, but not for YAML 1.1; put '<<' first",
}
"""The messages in a Secret for codes whose usual message quotes the text."""


class SecretParts:
    """Finds the parts of one text that may be Secrets; a part is the text between two document separators."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        self._hidden = [False]
        if not _mentions(text):
            return
        self._starts += [match.start() for match in _SEPARATOR.finditer(text) if match.start()]
        ends = [*self._starts[1:], len(text)]
        parts = [text[start:end] for start, end in zip(self._starts, ends, strict=True)]
        # A part that names no kind may be the rest of a Secret whose value has lost its indentation, with a `---` inside.
        self._hidden = [_mentions(part) or not _KIND.search(part) for part in parts]

    def hide(self, offset: int) -> bool:
        """Reports whether the text at this offset must not be shown."""
        return self._hidden[bisect_right(self._starts, max(offset, 0)) - 1]


def without_values(code: str, message: str) -> str:
    """Returns the message for a finding in a Secret, replaced if messages with this code quote the text."""
    return _WITHOUT_VALUES.get(code, message)


def _mentions(text: str) -> bool:
    if "\0" in text:  # UTF-16 without a mark, read as UTF-8
        text = text.replace("\0", "")
    if "\\" in text:
        text = _ESCAPE.sub(_unescaped, text)
    return bool(_MENTION.search(text))


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    code = int(digits, 16) if digits else 0
    return chr(code) if 0 < code < 0x110000 else ""
