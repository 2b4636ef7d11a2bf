"""Applies explicit YAML tags to values."""

from __future__ import annotations

from grove_compiler.source.scalars import Scalar, UnreadableNumber, resolve, shorten

STANDARD = "tag:yaml.org,2002:"
_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "null": (type(None),)}


class TagError(ValueError):
    """Reports a tag that is unknown or does not fit its value; `code` is the diagnostic's."""

    def __init__(self, message: str, code: str = "yaml/tag") -> None:
        super().__init__(message)
        self.code = code


def tagged_scalar(tag: str, text: str) -> Scalar:
    """Returns the value of a scalar with a tag. Raises `TagError`."""
    if tag in ("!", STANDARD + "str", STANDARD + "merge"):
        return text
    name = tag.removeprefix(STANDARD) if tag.startswith(STANDARD) else ""
    if name == "binary":
        return _binary(text)
    if name == "timestamp" and text[:4].isdigit():
        return text
    if name in _TYPES:
        return _typed(name, text)
    if name == "timestamp":
        raise TagError(f"{shorten(text)!r} is not a timestamp; remove the tag !!timestamp")
    if name in ("map", "seq"):
        raise TagError(f"the tag !!{name} is before a scalar; remove it")
    raise _unknown(tag)


def check_collection_tag(tag: str, what: str) -> None:
    """Raises `TagError` unless the tag is the standard one of a mapping or a list (`what`)."""
    if tag in ("!", STANDARD + ("map" if what == "mapping" else "seq")):
        return
    if tag.startswith(STANDARD) and tag.removeprefix(STANDARD) in (*_TYPES, "str", "binary", "timestamp", "map", "seq"):
        raise TagError(f"the tag {_shown(tag)} is before a {what}; remove it")
    raise _unknown(tag)


def _typed(name: str, text: str) -> Scalar:
    try:
        value = resolve(text)
    except UnreadableNumber as error:
        raise TagError(str(error), "yaml/number") from None
    fits = isinstance(value, _TYPES[name]) and isinstance(value, bool) == (name == "bool")
    written_as_float = name == "int" and text[1:2] not in ("x", "X") and not {".", "e", "E"}.isdisjoint(text)
    if not fits or (written_as_float and text[2:3] not in ("x", "X")):
        raise TagError(f"{shorten(text)!r} cannot be read as !!{name}; remove the tag or correct the value")
    return value


def _binary(text: str) -> str:
    # Only documents with a !!binary tag need it.
    from binascii import Error, a2b_base64

    try:
        return a2b_base64("".join(text.split()), strict_mode=True).decode()
    except (Error, ValueError):
        message = "the value of !!binary is not base64 of UTF-8 text; put bytes into a field that holds base64, without the tag"
        raise TagError(message) from None


def _unknown(tag: str) -> TagError:
    return TagError(f"the tag {_shown(tag)} is unknown, and Kubernetes objects have no tags: remove it")


def _shown(tag: str) -> str:
    return "!!" + shorten(tag.removeprefix(STANDARD)) if tag.startswith(STANDARD) else shorten(tag)
