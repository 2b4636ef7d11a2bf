"""Formats values of objects as Go prints them."""

from __future__ import annotations

from typing import Any

HTML = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
"""The characters that Go escapes in JSON, for which a page of HTML could be the place. They only occur inside of texts."""


def text_of(value: Any) -> str:
    """Returns a value as a JSONPath template prints it: maps and lists as JSON on one line, texts without quotes."""
    if value is None or isinstance(value, dict | list):
        return _json(value)
    return plain(value)


def plain(value: Any) -> str:
    """Returns a value as Go's verb `%v` prints it: `map[app:web]`, `[1 2]`, `<nil>`."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{plain(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(plain, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def ordered(value: Any) -> Any:
    """Returns a value with the keys of its maps sorted, as Go encodes maps."""
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value)}
    return [ordered(item) for item in value] if isinstance(value, list) else value


def indented(value: Any) -> str:
    """Returns a value as JSON on several lines, as Go encodes it."""
    from grove_compiler.source.json_writer import write_json

    return write_json([ordered(value)]).translate(HTML)


def _json(value: Any) -> str:
    import json  # only for a template that prints maps or lists

    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).translate(HTML)


class InvalidExpression(Exception):
    """An expression cannot be parsed, or selects something that is not there. The message is kubectl's."""
