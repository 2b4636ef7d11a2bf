"""Fields that belong to whoever else sets them: what of an intent is still ours to say.

On creation a yielded field is sent. Afterwards it is left alone: once another manager owns it, it is dropped from the intent, which gives
up our share without changing the value. While we are its only owner it cannot be dropped, for then the server would remove it (and
default a Deployment's replicas to 1), so the live value is sent again. One that nobody owns is not claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from applier.decision.fields import path_of
from applier.decision.items import Misfit, step_to
from applier.decision.managers import Managers, applier_of, owners_among, owns
from applier.decision.schema import Type
from applier.decision.secret_values import is_hidden
from applier.decision.values import equal, same_form
from applier.outcome import ABSENT, FieldChange
from applier.ref import Manifest


class Yielded(NamedTuple):
    """The intent without what is yielded, and the yielded fields whose live values are not the manifest's."""

    intent: Manifest
    differing: list[FieldChange]


class _Place(NamedTuple):
    keys: tuple[Any, ...]
    steps: tuple[str, ...]
    type: Type
    value: Any


def yield_fields(intent: Manifest, live: Manifest, type: Type, managers: Managers, pointers: Sequence[str], *, manager: str) -> Yielded:
    """Works out the intent for a live object. A pointer (RFC 6901) to nothing in the intent yields nothing."""
    differing: list[FieldChange] = []
    ours = applier_of(manager)
    mine = managers.get(ours)
    for place in _outermost(place for place in (_place(intent, type, pointer) for pointer in pointers) if place is not None):
        now = _value_at(live, type, place.steps)
        owners = tuple(owners_among(managers, place.steps, besides=ours))
        if not equal(now, place.value) and not same_form(place.type.form, now, place.value):
            differing.append(FieldChange(path_of(place.steps), now, place.value, owners))
        alone = not owners and mine is not None and owns(mine.fields, place.steps)
        if not alone:
            intent = _replaced(intent, place.keys, ABSENT)
        elif now is not ABSENT and not _holds_hash(now):
            intent = _replaced(intent, place.keys, now)
    return Yielded(intent, differing[::-1])


def _outermost(places: Iterable[_Place]) -> list[_Place]:
    """Each place once and none inside another; the last first, so that positions in lists stay right while items go."""
    kept: list[_Place] = []
    for place in sorted(places, key=lambda place: place.keys):
        if not kept or place.keys[: len(kept[-1].keys)] != kept[-1].keys:
            kept.append(place)
    return kept[::-1]


def _holds_hash(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_hash, value.values()))
    return is_hidden(value)


def _place(intent: Manifest, type: Type, pointer: str) -> _Place | None:
    """Where a pointer leads in an intent; None when nothing is there."""
    value: Any = intent
    keys: list[Any] = []
    steps: list[str] = []
    below: Type | None = type
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            keys.append(name)
            steps.append(f"f:{name}")
            value = value[name]
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value) and below is not None:
            value = value[int(name)]
            keys.append(int(name))
            steps.append(_item_step(value, int(name), below))
        else:
            return None
        below = below.below(steps[-1]) if below is not None else None
    return _Place(tuple(keys), tuple(steps), below, value) if keys and below is not None else None


def _item_step(item: Any, position: int, type: Type) -> str:
    try:
        return step_to(item, type) if type.list_kind in ("set", "map") else f"i:{position}"
    except Misfit:
        return f"i:{position}"


def _value_at(live: Any, type: Type, steps: tuple[str, ...]) -> Any:
    """The live value of a place; ABSENT when there is none."""
    value, below = live, type
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step[2:], ABSENT)
        elif isinstance(value, list):
            value = next((item for position, item in enumerate(value) if _item_step(item, position, below) == step), ABSENT)
        else:
            return ABSENT
        found = below.below(step)
        if found is None:
            return ABSENT
        below = found
    return value


def _replaced(value: Any, keys: tuple[Any, ...], new: Any) -> Any:
    """A copy with one place changed or, for ABSENT, gone; a map or list that this empties goes with it."""
    if not keys:
        return new
    key = keys[0]
    inner = _replaced(value[key], keys[1:], new)
    if isinstance(value, list):
        items = [*value[:key], *([] if inner is ABSENT else [inner]), *value[key + 1 :]]
        return items or ABSENT
    members = {name: inner if name == key else member for name, member in value.items() if name != key or inner is not ABSENT}
    return members or ABSENT
