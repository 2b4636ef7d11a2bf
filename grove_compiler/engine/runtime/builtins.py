"""Defines the filters, tests and functions of all expressions. Their docstrings are the language's reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grove_compiler.engine.runtime.access import MAX_TEXT, EvaluationError, as_text, bounded_range, contains, describe, each

Key = Callable[[Any], Any]
MAX_COMPARED = 5000
MAX_SHOWN = 50
EMPTY = (None, "")


def length(value: Any) -> int:
    """How many items or characters; 0 for none."""
    return 0 if value is None else len(value)


def join(items: Any, separator: str = "") -> str:
    """The items as one text, with a separator between them."""
    texts = [as_text(item) for item in each(items)]
    if len(separator) * len(texts) > MAX_TEXT:
        raise EvaluationError(f"joining {len(texts)} items by so long a separator makes more than {MAX_TEXT} characters")
    return separator.join(texts)


def shown(items: Any) -> str:
    """The items as one text for a message, with commas between them; of a long list the first ones, and how many more there are."""
    texts = list(each(items))
    more = len(texts) - MAX_SHOWN
    return ", ".join(as_text(item) for item in texts[:MAX_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def map_(items: Any, key: Key) -> list[Any]:
    """`map(attribute='a.b')`: that attribute of each item; `map('name')`: that filter applied to each item."""
    return [key(item) for item in each(items)]


def select(items: Any, key: Key) -> list[Any]:
    """`select('test')`: the items that pass a test. `selectattr('a.b')`, `selectattr('a', 'test', x)`: those whose attribute does."""
    return [item for item in each(items) if key(item)]


def reject(items: Any, key: Key) -> list[Any]:
    """`reject('test')`, `rejectattr('a.b', …)`: the items that `select` would leave out."""
    return [item for item in each(items) if not key(item)]


def sort(items: Any, key: Key | None = None) -> list[Any]:
    """In ascending order; `sort(attribute='a')` orders by an attribute."""
    try:
        return sorted(items if isinstance(items, set | frozenset) else each(items), key=key)
    except TypeError as error:
        raise EvaluationError(f"cannot sort: {error}") from None


def unique(items: Any, key: Key | None = None) -> list[Any]:
    """Each value once, in order of first appearance; `unique(attribute='a')` compares an attribute."""
    seen = _Values()
    return [item for item in each(items) if seen.is_new(key(item) if key else item)]


def as_set(items: Any) -> frozenset[Any]:
    """The values as a set: `in` finds a value in it at once, and goes through a list from its beginning."""
    try:
        return frozenset(each(items))
    except TypeError:
        raise EvaluationError("a set cannot have lists or maps") from None


def duplicates(items: Any) -> list[Any]:
    """The values that occur more than once, each once, in order of their second appearance."""
    seen, reported = _Values(), _Values()
    return [item for item in each(items) if not seen.is_new(item) and reported.is_new(item)]


def repeats(items: Any, key: Key | None = None) -> list[int]:
    """The indices of items that equal an earlier one; `repeats(attribute='a')` compares an attribute. What is none or empty never does."""
    seen = _Values()
    values = [key(item) if key else item for item in each(items)]
    return [index for index, value in enumerate(values) if value not in EMPTY and not seen.is_new(value)]


class _Values:
    """Remembers the values seen so far: hashable ones in a set, lists and maps in a list that is searched one by one."""

    __slots__ = ("_others", "_simple")

    def __init__(self) -> None:
        self._simple: set[Any] = set()
        self._others: list[Any] = []

    def is_new(self, value: Any) -> bool:
        """Adds the value; tells whether no equal one was there before."""
        try:
            known: set[Any] | list[Any] = self._simple
            is_new = value not in known
        except TypeError:  # a list or a map
            known = self._others
            is_new = value not in known
        if is_new and isinstance(known, set):
            known.add(value)
        elif is_new:
            self._others.append(value)
        if len(self._others) > MAX_COMPARED:
            raise EvaluationError(f"more than {MAX_COMPARED} different lists or maps to compare")
        return is_new


def first(items: Any) -> Any:
    """The first item; none when there is none."""
    return next(iter(each(items)), None)


def last(items: Any) -> Any:
    """The last item; none when there is none."""
    values = list(each(items))
    return values[-1] if values else None


def sum_(items: Any, key: Key | None = None) -> Any:
    """The sum of numbers; `sum(attribute='a')` adds up an attribute."""
    return sum(key(item) if key else item for item in each(items))


def min_(items: Any, key: Key | None = None) -> Any:
    """The least item, by an attribute if one is named; none when there is none."""
    return min(each(items), key=key, default=None)


def max_(items: Any, key: Key | None = None) -> Any:
    """The greatest item, by an attribute if one is named; none when there is none."""
    return max(each(items), key=key, default=None)


def list_(items: Any) -> list[Any]:
    """The items as a list."""
    return list(each(items))


def items_(mapping: Any) -> list[list[Any]]:
    """A map's entries as `[key, value]` pairs; none has none."""
    return [[key, value] for key, value in _mapping(mapping).items()]


def keys_(mapping: Any) -> list[Any]:
    """A map's keys, in order."""
    return list(_mapping(mapping))


def values_(mapping: Any) -> list[Any]:
    """A map's values, in order."""
    return list(_mapping(mapping).values())


def over(upper: Any, lower: Any) -> dict[Any, Any]:
    """`a | over(b)`: both maps in one, with a's value where both have a key. None counts as an empty map."""
    return {**_mapping(lower), **_mapping(upper)}


def without(value: Any, *left_out: Any) -> Any:
    """A map without these keys, or a list without these items."""
    if isinstance(value, list | tuple):
        return [item for item in value if item not in left_out]
    return {key: entry for key, entry in _mapping(value).items() if key not in left_out}


def default(value: Any, fallback: Any) -> Any:
    """`fallback` when the value is none. (`x or y` also replaces what is empty, zero or false.)"""
    return fallback if value is None else value


def string(value: Any) -> str:
    """As text: booleans as `true` and `false`."""
    return as_text(value)


def int_(value: Any) -> int:
    """As a whole number."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise EvaluationError(f"{value!r} is not a whole number") from None


def lower(value: Any) -> str:
    """In lower case."""
    return as_text(value).lower()


def upper(value: Any) -> str:
    """In upper case."""
    return as_text(value).upper()


def trim(value: Any) -> str:
    """Without white space at both ends."""
    return as_text(value).strip()


def replace(value: Any, old: str, new: str) -> str:
    """With every occurrence of one text replaced by another."""
    text = as_text(value)
    if len(text) * len(new) > MAX_TEXT and len(text) + text.count(old) * (len(new) - len(old)) > MAX_TEXT:
        raise EvaluationError(f"replacing so often by so long a text makes more than {MAX_TEXT} characters")
    return text.replace(old, new)


def tojson(value: Any) -> str:
    """As JSON text, keys sorted."""
    import json  # seldom used, so not paid for at start-up

    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _mapping(value: Any) -> Mapping[Any, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise EvaluationError(f"expected a map, found {describe(value)}")
    return value


def matches(value: Any, pattern: str) -> bool:
    """Whether a regular expression matches the whole text."""
    import re

    try:
        return isinstance(value, str) and re.fullmatch(pattern, value) is not None
    except re.error as error:
        raise EvaluationError(f"{pattern!r} is not a regular expression: {error}") from None


def matches_in_linear_time(value: Any, pattern: str) -> bool:
    """Does what `matches` does, in linear time, for rules of users: no pattern of theirs may hang the program."""
    # Python's `re` tries all ways to match: `(a+)+b` takes a minute for 30 letters, and no budget can stop it inside one call.
    # To look for such patterns beforehand would reject harmless ones and miss others. RE2 needs time linear in the text, always, but
    # 5 ms to be imported: built-in rules keep `re`, since theirs are known, and a start with them alone pays nothing.
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return isinstance(value, str) and re2.fullmatch(pattern, value, options) is not None
    except re2.error as error:
        raise EvaluationError(f"{pattern!r} is not a regular expression: {error.args[0].decode('utf-8', 'replace')}") from None


def owner_references(owner: Any) -> list[dict[str, Any]]:
    """`metadata.ownerReferences` for an object's controller. Empty for none; without a UID while the owner has none."""
    if owner is None:
        return []
    reference = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name}
    if owner.uid:
        reference["uid"] = owner.uid
    return [{**reference, "controller": True, "blockOwnerDeletion": True}]


FILTERS: dict[str, Callable[..., Any]] = {
    "length": length, "count": length, "join": join, "map": map_, "select": select, "selectattr": select, "reject": reject,
    "rejectattr": reject, "sort": sort, "unique": unique, "duplicates": duplicates, "repeats": repeats, "first": first, "last": last,
    "sum": sum_, "min": min_, "max": max_, "list": list_, "as_set": as_set, "items": items_, "keys": keys_, "values": values_,
    "over": over, "without": without,
    "default": default, "d": default, "string": string, "int": int_, "lower": lower, "upper": upper, "trim": trim,
    "replace": replace, "tojson": tojson, "shown": shown,
}  # fmt: skip

# What a filter gives, where it can be said without looking at its input. (`first`, `map` and the like are inferred by the compiler.)
RESULTS: dict[str, Any] = {
    "length": int, "count": int, "join": str, "string": str, "int": int, "lower": str, "upper": str, "trim": str, "replace": str,
    "tojson": str, "shown": str, "repeats": list[int], "over": dict[str, Any],
}  # fmt: skip

TESTS: dict[str, Callable[..., bool]] = {
    "none": lambda value: value is None,
    "defined": lambda value: value is not None,
    "true": lambda value: value is True,
    "false": lambda value: value is False,
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "mapping": lambda value: isinstance(value, dict),
    "sequence": lambda value: isinstance(value, list | tuple),
    "match": matches,
    "in": contains,
    "eq": lambda value, other: bool(value == other), "equalto": lambda value, other: bool(value == other),
    "ne": lambda value, other: bool(value != other),
    "lt": lambda value, other: bool(value < other), "gt": lambda value, other: bool(value > other),
    "le": lambda value, other: bool(value <= other), "ge": lambda value, other: bool(value >= other),
    "startswith": lambda value, prefix: isinstance(value, str) and value.startswith(prefix),
    "endswith": lambda value, suffix: isinstance(value, str) and value.endswith(suffix),
}  # fmt: skip

FUNCTIONS: dict[str, Callable[..., Any]] = {"range": bounded_range, "owner_references": owner_references}
