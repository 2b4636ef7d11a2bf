"""What the server does with an apply: values, owners and conflicts.

Follows structured-merge-diff (`Updater.Apply`, `Merge`, `RemoveItems`, `Compare`) and apimachinery's `managedfields`. It is written out
here because a dry run would cost a request for every object of a graph, where deciding here costs tens of microseconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from applier.decision.fields import (
    NEVER_OWNED,
    Fields,
    add,
    difference,
    field_set,
    intersection,
    is_member,
    reconciled,
    union,
    with_named_fields,
    without,
)
from applier.decision.go_types import is_plain
from applier.decision.managers import Entry, Identity, Managers, applier_of
from applier.decision.schema import Type
from applier.decision.values import LIST, MAP, check, equal, is_leaf, member_type, shape_of, step_to, steps_to
from applier.outcome import ABSENT
from applier.ref import Manifest

_STATUS: Fields = {"f:status": {}}
BEFORE_FIRST_APPLY = "before-first-apply"


class Applied(NamedTuple):
    """An apply as the server would do it with force, and what it would refuse without.

    `object` has no managedFields, and values stand in it as they were sent. `managers` are those afterwards; `before` those of the live
    object as the server sees them. `conflicts` holds what each manager would lose. `strangers` are managers whose entries are in
    another API version: they are compared as if they were in ours.
    """

    object: Manifest
    managers: Managers
    before: Managers
    conflicts: dict[Identity, Fields]
    strangers: frozenset[str]


def simulate(
    live: Manifest, intent: Manifest, type: Type, managers: Managers, *, manager: str, version: str, subresource: str = ""
) -> Applied:
    """Lays an intent over a live object; `live` is empty for one that is to be created. Raises `Misfit` for what breaks the schema."""
    check(type, intent)
    live = without_managed_fields(live)
    before = {identity: entry._replace(fields=reconciled(entry.fields, type)) for identity, entry in managers.items()}
    if not before and live:
        before = _first_entries(live, type, version)
    ours = applier_of(manager, subresource)
    last = before.get(ours)
    after = {**before, ours: Entry(_without_status(field_set(intent, type), type), version, last.time if last else "")}
    merged = merge(live, intent, type)
    if last is not None and difference(last.fields, after[ours].fields):
        merged = prune(merged, last.fields, after, type)
    comparison = compare(live, merged, type)
    conflicts = _settle(comparison, after, ours, type)
    after[ours] = after[ours]._replace(fields=difference(after[ours].fields, NEVER_OWNED))
    managers = {identity: entry for identity, entry in after.items() if entry.fields}
    strangers = frozenset(entry.version for entry in before.values()) - {version}
    return Applied(merged if merged is not None else {}, managers, before, conflicts, strangers)


def without_managed_fields(live: Manifest) -> Manifest:
    """Returns an object without what says who owns it."""
    metadata = live.get("metadata")
    if not metadata or "managedFields" not in metadata:
        return live
    return {**live, "metadata": {key: value for key, value in metadata.items() if key != "managedFields"}}


def _first_entries(live: Manifest, type: Type, version: str) -> Managers:
    """Returns who owns an object that nobody's fields were kept of: one manager for all that is there."""
    comparison = compare({}, _beyond_zero(live, type) if type.go else live, type)
    fields = difference(_without_status(union(comparison.added, comparison.modified), type), NEVER_OWNED)
    return {Identity(BEFORE_FIRST_APPLY, "Update", "", version): Entry(fields, version)} if fields else {}


def _beyond_zero(value: dict[str, Any], type: Type, is_plain_all_the_way: bool = True) -> dict[str, Any]:
    """Returns what a Go object has beyond one in which nobody set anything: that is what the server compares it with.

    Go writes null and `{}` for lists, maps and structs, and for plain scalars their zeros (a PriorityClass's `value: 0`), unless they
    are said to be left out. What stands behind a pointer, or in a list, is not there at all when nobody set it.
    """
    found = {}
    for name, member in value.items():
        below = type.member(name)
        is_plain_here = is_plain_all_the_way and name in type.fields and is_plain(type.name, name)
        if isinstance(member, dict) and below is not None:
            member = _beyond_zero(member, below, is_plain_here)
        if member is not None and member != {} and not (is_plain_here and not isinstance(member, list) and not member):
            found[name] = member
    return found


def _without_status(fields: Fields, type: Type) -> Fields:
    return without(fields, _STATUS) if type.status else fields


def prune(merged: Manifest, last: Fields, after: Managers, type: Type) -> Any:
    """Takes out what we owned before and nobody owns now. Items that others own parts of stay, as does what nobody ever owned."""
    named = with_named_fields(last, type)
    pruned = remove(merged, named, type)
    owned: Fields = {}
    for entry in after.values():
        owned = union(owned, entry.fields)
    whole = with_named_fields(field_set(merged, type), type)
    kept = with_named_fields(field_set(pruned, type), type) if pruned is not None else {}
    pruned = remove(merged, difference(whole, union(kept, with_named_fields(owned, type))), type)
    kept = with_named_fields(field_set(pruned, type), type) if pruned is not None else {}
    return remove(merged, intersection(difference(whole, kept), named), type)


def _settle(comparison: Comparison, after: Managers, ours: Identity, type: Type) -> dict[Identity, Fields]:
    """Takes changed and removed fields from the other managers; gives what changed of each, which is what it would object to."""
    changed = _without_status(union(comparison.modified, comparison.added), type)
    removed = _without_status(comparison.removed, type)
    conflicts: dict[Identity, Fields] = {}
    if not changed and not removed:
        return conflicts
    for identity, entry in after.items():
        if identity == ours:
            continue
        lost = intersection(entry.fields, changed)
        if lost:
            conflicts[identity] = lost
        after[identity] = entry._replace(fields=difference(difference(entry.fields, lost), removed))
    return conflicts


def merge(live: Any, intent: Any, type: Type) -> Any:
    """Merges the two. What an intent leaves as it is is the live object's own, not a copy. Raises `Misfit`."""
    if intent is ABSENT:
        return live
    shape = shape_of(type, intent)
    under = live if live is not ABSENT and shape_of(type, live) == shape else ABSENT
    if is_leaf(type, shape) or (not intent and (under is ABSENT or not under)):
        return live if equal(live, intent) else intent
    if shape == LIST:
        return _merge_lists(under if isinstance(under, list) else [], intent or [], type)
    return _merge_maps(under if isinstance(under, dict) else {}, intent or {}, type)


def _merge_maps(live: dict[str, Any], intent: dict[str, Any], type: Type) -> dict[str, Any]:
    merged = live
    for name, value in intent.items():
        old = live.get(name, ABSENT)
        new = merge(old, value, member_type(type, name))
        if new is not old:
            if merged is live:
                merged = dict(live)
            merged[name] = new
    return merged


def _merge_lists(live: list[Any], intent: list[Any], type: Type) -> list[Any]:
    """Returns items in the intent's order, with those that only the live list has where they stood among the others."""
    left, right = steps_to(live, type), steps_to(intent, type)
    of_live = _by_step(left, live)
    of_intent = dict(zip(right, intent, strict=True))
    shared = [step for step in right if step in of_live]
    merged: list[Any] = []
    done: set[str] = set()
    at = to = wanted = 0

    def take(step: str) -> None:
        done.add(step)
        merged.append(merge(of_live.get(step, ABSENT), of_intent[step], type.item))

    while at < len(left) or to < len(right):
        if at < len(left) and to < len(right):
            if left[at] == right[to]:
                take(left[at])
                at, to, wanted = at + 1, to + 1, wanted + 1
                continue
            if left[at] in of_intent and wanted < len(shared) and shared[wanted] != left[at]:
                at += 1
                continue
        if at < len(left):
            if left[at] not in of_intent:
                merged.append(live[at])
                at += 1
                continue
            if left[at] in done:
                at += 1
        if to < len(right):
            take(right[to])
            wanted += int(wanted < len(shared) and shared[wanted] == right[to])
            to += 1
    unchanged = len(merged) == len(live) and all(new is old for new, old in zip(merged, live, strict=True))
    return live if unchanged else merged


def _by_step(steps: list[str], items: list[Any]) -> dict[str, Any]:
    """Returns items by their steps; one that is there twice is merged with nothing."""
    by_step: dict[str, Any] = {}
    for step, item in zip(steps, items, strict=True):
        by_step[step] = None if step in by_step else item
    return by_step


def remove(value: Any, gone: Fields, type: Type) -> Any:
    """Returns a value without the members of a set, and without what they hold.

    What has nothing left becomes null, as the server has it.
    """
    shape = shape_of(type, value)
    if shape == MAP:
        return _remove_from_map(value, gone, type) if isinstance(value, dict) and not type.map_atomic else None
    if shape == LIST:
        return _remove_from_list(value, gone, type) if isinstance(value, list) and not is_leaf(type, LIST) else None
    return value


def _remove_from_map(value: dict[str, Any], gone: Fields, type: Type) -> Any:
    left: dict[str, Any] = {}
    for name, member in value.items():
        node = gone.get(f"f:{name}")
        if node is None:
            left[name] = member
        elif not is_member(node):
            left[name] = remove(member, node, member_type(type, name))
    return left or None


def _remove_from_list(value: list[Any], gone: Fields, type: Type) -> Any:
    left: list[Any] = []
    for item in value:
        node = gone.get(step_to(item, type))
        if node is None:
            left.append(item)
        elif not is_member(node):
            left.append(remove(item, node, type.item))
    return left or None


class Comparison:
    """Fields that the second object has and the first has not, that both have with other values, and that it lacks."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.added: Fields = {}
        self.modified: Fields = {}
        self.removed: Fields = {}

    def visit(self, first: Any, second: Any, type: Type, path: tuple[str, ...]) -> None:
        if first is second:
            return
        for shape in dict.fromkeys(shape_of(type, value) for value in (first, second) if value is not ABSENT):
            leaf = self._shaped(shape, first, second, type, path)
        if not leaf and path and (first is ABSENT or second is ABSENT):
            self._note(first, second, path)

    def _shaped(self, shape: str, first: Any, second: Any, type: Type, path: tuple[str, ...]) -> bool:
        """Compares as one shape; says whether that was a leaf."""
        kind = dict if shape == MAP else list
        lower = first if isinstance(first, kind) else None
        upper = second if isinstance(second, kind) else None
        if is_leaf(type, shape) or (not lower and not upper):
            if path:
                self._note(first, second, path)
            return True
        if shape == LIST:
            self._lists(lower or [], upper or [], type, path)
        else:
            self._maps(lower or {}, upper or {}, type, path)
        return False

    def _note(self, first: Any, second: Any, path: tuple[str, ...]) -> None:
        if first is ABSENT:
            add(self.added, path)
        elif second is ABSENT:
            add(self.removed, path)
        elif not equal(first, second):
            add(self.modified, path)

    def _maps(self, first: Any, second: Any, type: Type, path: tuple[str, ...]) -> None:
        for name in first.keys() | second.keys():
            self.visit(first.get(name, ABSENT), second.get(name, ABSENT), member_type(type, name), (*path, f"f:{name}"))

    def _lists(self, first: Any, second: Any, type: Type, path: tuple[str, ...]) -> None:
        lower, upper = _grouped(first, type), _grouped(second, type)
        for step in lower.keys() | upper.keys():
            self._items(lower.get(step, []), upper.get(step, []), type, (*path, step))

    def _items(self, first: list[Any], second: list[Any], type: Type, path: tuple[str, ...]) -> None:
        """Compares items of one name; where there are several, they are compared as a whole."""
        if len(first) < 2 and len(second) < 2:
            self.visit(first[0] if first else ABSENT, second[0] if second else ABSENT, type.item, path)
        elif len(first) > 1 and len(second) > 1:
            if not equal(first, second):
                add(self.modified, path)
        elif len(first) > 1:
            if second:
                self.visit(ABSENT, second[0], type.item, path)
            add(self.removed, path)
        else:
            if first:
                self.visit(first[0], ABSENT, type.item, path)
            add(self.added, path)


def _grouped(items: list[Any], type: Type) -> dict[str, list[Any]]:
    by_step: dict[str, list[Any]] = {}
    for step, item in zip(steps_to(items, type), items, strict=True):
        by_step.setdefault(step, []).append(item)
    return by_step


def compare(first: Any, second: Any, type: Type) -> Comparison:
    """Raises `Misfit` where one of them breaks the schema. Parts that both share are not looked into."""
    comparison = Comparison()
    comparison.visit(first, second, type, ())
    return comparison
