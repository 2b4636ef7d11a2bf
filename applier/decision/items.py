"""What names an item of an associative list: its keys, or its value in a set."""

from __future__ import annotations

from typing import Any

from applier.decision.fields import item_step, value_step
from applier.decision.schema import Type


class Misfit(Exception):
    """A value that its schema does not allow; the server would refuse it. `path` is where, from the inside out while it is raised."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"{'.'.join(reversed(self.path))}: {self.why}" if self.path else self.why


def step_to(item: Any, type: Type) -> str:
    """The step of FieldsV1 to an item of a list of this type, which is a set or a map. Raises `Misfit`."""
    if type.list_kind == "set":
        if item is None or isinstance(item, dict | list):
            raise Misfit("an item of a set that is no scalar")
        return value_step(item)
    if not isinstance(item, dict):
        raise Misfit("an item of a list with keys that is no map")
    values = []
    for key in type.keys:
        if key in item:
            values.append((key, item[key]))
        elif type.key_defaults.get(key) is not None:
            values.append((key, type.key_defaults[key]))
    if not values:
        raise Misfit(f"an item without {' and '.join(type.keys)}")
    return item_step(values)


def steps_to(items: list[Any], type: Type) -> list[str]:
    """The steps to all items, in order."""
    return [step_to(item, type) for item in items]
