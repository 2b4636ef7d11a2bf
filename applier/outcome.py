"""Represents what is to be done with an object or was done, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from applier.ref import Manifest, Ref

Path = tuple[Any, ...]
"""A place in an object: keys are text, list positions are whole numbers, items of associative lists are `ItemKey`."""


class ItemKey(NamedTuple):
    """Identifies an item of an associative list by its keys, `(("name", "main"),)`, and of a set by its value, `(("", value),)`."""

    fields: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        """Returns the notation of kubectl, `[name=main]`."""
        return "[" + ",".join(f"{name}={value}" if name else f"={value}" for name, value in self.fields) + "]"


class Action(StrEnum):
    """Enumerates what happens to an object. The words are the ones of the report, and the first three are kubectl's."""

    CREATED = "created"
    CONFIGURED = "configured"
    UNCHANGED = "unchanged"
    RECREATED = "recreated"
    PRUNED = "pruned"
    YIELDED = "yielded"  # differs, but only in fields that belong to somebody else
    HELD = "held"  # not done: it waits for something that failed, for an approval, or for a decision by people
    FAILED = "failed"  # tried, or compared, and it did not work


QUIET = frozenset({Action.UNCHANGED, Action.YIELDED})
"""Actions that need no request."""

WRITTEN = frozenset({Action.CREATED, Action.CONFIGURED, Action.RECREATED})
"""Actions that need a write."""

UNDONE = frozenset({Action.FAILED, Action.HELD})
"""Actions after which an object is not as it was wanted when the run is over."""


class Owner(NamedTuple):
    """Represents the owner of a field: an entry of `metadata.managedFields`. `operation` is Apply or Update, `time` RFC 3339."""

    manager: str
    operation: str
    time: str
    subresource: str = ""


class FieldChange(NamedTuple):
    """Represents a field that differs. `old` and `new` are `ABSENT` for a missing field; `owners` are its managers other than us."""

    path: Path
    old: Any
    new: Any
    owners: tuple[Owner, ...] = ()


class Conflict(NamedTuple):
    """Represents a field that we want to set and another manager owns with another value."""

    path: Path
    owner: Owner


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
"""Stands where an object has no such field. JSON's null is a value of its own."""


def dotted(path: Path) -> str:
    """Formats a path for people: `spec.template.spec.containers[name=main].image`, `metadata.labels["a.b/c"]`.

    A single text is a whole path already, in the server's spelling.
    """
    if len(path) == 1 and isinstance(path[0], str):
        return path[0]
    text = ""
    for part in path:
        if isinstance(part, ItemKey):
            text += str(part)
        elif isinstance(part, int):
            text += f"[{part}]"
        elif "." in part or "/" in part:
            text += f'["{part}"]'
        else:
            text += f".{part}" if text else part
    return text


@dataclass(slots=True, eq=False)
class Step:
    """Represents what is to be done with one object.

    `reason` is one sentence. `uid` and `resource_version` are those of the live object that the step was decided on, empty where there
    was none. `unsure` means that the decision needs the server: a dry run is made before the step counts. `wave` is when: all of an
    earlier wave is done first. `intent` is what to send over the live object, values of Secrets hidden, with force where `force` says so;
    None where it has yet to be worked out, for want of an owner's UID or because the step was kept in a file. `patch` is a JSON patch that
    is written instead, to an object that is only ever created.
    """

    ref: Ref
    action: Action
    reason: str = ""
    changes: list[FieldChange] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    uid: str = ""
    resource_version: str = ""
    wave: int = 0
    unsure: bool = False
    intent: Manifest | None = None
    force: bool = False
    patch: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Outcome:
    """Represents the result of a step. `step` is what was planned; `action` and `reason` what happened; `seconds` how long it took."""

    step: Step
    action: Action
    reason: str = ""
    uid: str = ""
    seconds: float = 0.0
    error: Exception | None = None
