"""As what a value is merged: a map, a scalar or a list, of those that its type allows."""

from __future__ import annotations

from typing import Any

from applier.decision.items import Misfit, step_to
from applier.decision.schema import Type
from applier.outcome import ABSENT

MAP, SCALAR, LIST = "map", "scalar", "list"


def shape_of(type: Type, value: Any) -> str:
    """The shape of a value under a type. Null, what is absent and what does not fit have the first shape that the type allows."""
    if isinstance(value, dict):
        if type.is_map:
            return MAP
    elif isinstance(value, list):
        if type.is_list:
            return LIST
    elif value is not None and value is not ABSENT and type.scalar:
        return SCALAR
    return MAP if type.is_map else SCALAR if type.scalar else LIST


def is_leaf(type: Type, shape: str) -> bool:
    """Whether a value of this shape is owned as a whole."""
    return shape == SCALAR or (type.map_atomic if shape == MAP else type.list_kind in ("atomic", ""))


def member_type(type: Type, name: str) -> Type:
    """The type of a map's member. Raises `Misfit` when the map may not have it."""
    known = type.fields.get(name)
    if known is not None:
        return known[1]
    if type.element is None:
        raise Misfit("field not declared in schema")
    return type.element


_PYTHON: dict[str, tuple[object, ...]] = {
    "string": (str,),
    "numeric": (int, float),
    "boolean": (bool,),
    "untyped": (str, int, float, bool),
    "": (),
}


def check(type: Type, value: Any) -> None:
    """Refuses what the server refuses before it merges. Raises `Misfit`."""
    if value is None:
        return
    shape = shape_of(type, value)
    if shape == MAP:
        _check_map(type, value)
    elif shape == LIST:
        _check_list(type, value)
    elif value.__class__ not in _PYTHON[type.scalar]:
        raise Misfit(f"expected {type.scalar or 'a list'}")


def _check_map(type: Type, value: Any) -> None:
    if not isinstance(value, dict):
        raise Misfit("expected a map")
    for name, member in value.items():
        try:
            check(member_type(type, name), member)
        except Misfit as misfit:
            misfit.path.append(name)
            raise


def _check_list(type: Type, value: Any) -> None:
    if not isinstance(value, list):
        raise Misfit("expected a list")
    seen: set[str] = set()
    for position, item in enumerate(value):
        try:
            if type.list_kind in ("set", "map"):
                step = step_to(item, type)
                if step in seen:
                    raise Misfit(f"duplicate entries for key {step[2:]}")
                seen.add(step)
            check(type.item, item)
        except Misfit as misfit:
            misfit.path.append(str(position))
            raise
