"""A live object with an intent laid over it (structured-merge-diff's `Merge`), and with fields taken out of it (`RemoveItems`)."""

from __future__ import annotations

from typing import Any

from applier.decision.fields import Fields, is_member
from applier.decision.items import step_to, steps_to
from applier.decision.schema import Type
from applier.decision.shape import LIST, MAP, is_leaf, member_type, shape_of
from applier.decision.values import equal
from applier.outcome import ABSENT


def merge(live: Any, intent: Any, type: Type) -> Any:
    """What the two give together. What an intent leaves as it is is the live object's own, not a copy. Raises `Misfit`."""
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
    """Items in the intent's order, with those that only the live list has where they stood among the others."""
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
    """Items by their steps; one that is there twice is merged with nothing."""
    found: dict[str, Any] = {}
    for step, item in zip(steps, items, strict=True):
        found[step] = None if step in found else item
    return found


def remove(value: Any, gone: Fields, type: Type) -> Any:
    """A value without the members of a set, and without what they hold. What has nothing left becomes null, as the server has it."""
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
