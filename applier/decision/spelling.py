"""What was sent in the spelling in which the server keeps it already, so that a difference that is shown is one."""

from __future__ import annotations

from typing import Any

from applier.decision.fields import Fields
from applier.decision.items import steps_to
from applier.decision.schema import Type
from applier.decision.shape import LIST, is_leaf
from applier.decision.storing import Walk
from applier.decision.values import is_empty
from applier.outcome import ABSENT


def as_kept(live: Any, sent: Any, type: Type, owned: Fields) -> Any:
    """A sent value with the live one wherever the two are one to the server.

    `owned` is what we owned of it in FieldsV1: an empty value of ours that is not there was left out by the server, and is left out here.
    """
    if sent is live or not _differs(live, sent, type):
        return live
    if isinstance(sent, dict) and isinstance(live, dict) and type.is_map:
        return _map_as_kept(live, sent, type, owned)
    if isinstance(sent, list) and isinstance(live, list) and type.is_list and not is_leaf(type, LIST):
        found = dict(zip(steps_to(live, type), live, strict=True))
        steps = steps_to(sent, type)
        return [as_kept(found.get(step, ABSENT), item, type.item, owned.get(step) or {}) for step, item in zip(steps, sent, strict=True)]
    return sent


def _differs(live: Any, sent: Any, type: Type) -> bool:
    walk = Walk("")
    walk.visit(live, sent, type, ("f:",))
    return bool(walk.found)


def _map_as_kept(live: dict[str, Any], sent: dict[str, Any], type: Type, owned: Fields) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name in dict.fromkeys([*live, *sent]):
        known = type.fields.get(name)
        below = known[1] if known else type.element
        value = sent.get(name, ABSENT)
        if value is ABSENT:
            if below is not None and not _differs(live[name], ABSENT, below):
                kept[name] = live[name]
            continue
        mine = owned.get(f"f:{name}")
        if below is None or (name not in live and mine == {} and below.go and is_empty(value) and not (value == {} and below.fields)):
            continue
        kept[name] = as_kept(live.get(name, ABSENT), value, below, mine or {})
    return kept
