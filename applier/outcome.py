"""Defines steps, which are planned for objects, and their outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from applier.ref import Manifest, Ref, resource_version_of, uid_of

Path = tuple[Any, ...]
"""A place in an object: keys are text, list positions are whole numbers, items of associative lists are `ItemKey`."""


class ItemKey(NamedTuple):
    """Identifies an item of an associative list by its keys, `(("name", "main"),)`, and of a set by its value, `(("", value),)`."""

    fields: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        """Returns the notation of kubectl, `[name=main]`."""
        return "[" + ",".join(f"{name}={value}" if name else f"={value}" for name, value in self.fields) + "]"


class Action(StrEnum):
    """Enumerates what happens to an object. The values appear in reports, and the first three are kubectl's."""

    CREATED = "created"
    CONFIGURED = "configured"
    UNCHANGED = "unchanged"
    RECREATED = "recreated"
    PRUNED = "pruned"
    YIELDED = "yielded"  # differs, but only in fields that yield to other managers
    HELD = "held"  # not written: it waits for an object that failed, for an approval, or for a decision of the user
    FAILED = "failed"  # the request or the comparison failed


QUIET = frozenset({Action.UNCHANGED, Action.YIELDED})
"""Actions that need no request."""

WRITTEN = frozenset({Action.CREATED, Action.CONFIGURED, Action.RECREATED})
"""Actions that need a write."""

UNDONE = frozenset({Action.FAILED, Action.HELD})
"""Actions after which an object is not in its desired state at the end of the run."""


class Obstacle(StrEnum):
    """Enumerates why an object is not written or deleted, where a caller may have more to say about it than its reason does."""

    NONE = ""
    FOREIGN = "foreign"  # it is somebody else's
    EARLIER = "earlier"  # so it is, but of an earlier owner of the desired name, with which it goes
    UNSERVED = "unserved"  # the server does not serve its kind
    FINALIZERS = "finalizers"  # it is deleted, and does not go before controllers take off its finalizers
    UNREAD = "unread"  # the state of its kind is not known, as while lists of it fail


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
"""The value of a field that an object does not have, as opposed to JSON's null."""


def dotted(path: Path) -> str:
    """Formats a path for messages: `spec.template.spec.containers[name=main].image`, `metadata.labels["a.b/c"]`.

    A path of a single text is returned unchanged: it is a path in the server's notation.
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
    """Represents what is planned for one object.

    `reason` is one sentence. `uid` and `resource_version` are those of the live object that the step was decided on, empty without one. An
    `unsure` step is confirmed by a dry run on the server before it is executed. All steps of an earlier `wave` are executed first. `intent`
    is the manifest to apply, with values of Secrets hidden, and `force` whether to apply it by force; it is None if it still has to be
    computed, because an owner's UID is unknown or the step is from a saved plan. `patch` is a JSON patch that is sent instead, for a
    create-only object. `obstacle` is why it cannot be written.
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
    obstacle: Obstacle = Obstacle.NONE

    @classmethod
    def deletion(cls, live: Manifest, reason: str = "", wave: int = 0) -> Step:
        """Returns the step that deletes a live object, as long as it is that of this UID."""
        return cls(Ref.of(live), Action.PRUNED, reason, uid=uid_of(live), resource_version=resource_version_of(live), wave=wave)

    @property
    def is_foreign(self) -> bool:
        """Whether the object is somebody else's and must not be changed."""
        return self.obstacle in (Obstacle.FOREIGN, Obstacle.EARLIER)


@dataclass(slots=True, eq=False)
class Outcome:
    """Represents the result of a step: what was planned, the actual `action` with its `reason`, and its duration in `seconds`.

    `retry_after` is the number of seconds for which a loop does not try the same again, 0 for none. One that `is_last` kept a loop from
    trying anything else of its key, of which nothing new is known.
    """

    step: Step
    action: Action
    reason: str = ""
    uid: str = ""
    seconds: float = 0.0
    error: Exception | None = None
    retry_after: float = 0.0
    is_last: bool = False

    @classmethod
    def of(cls, step: Step) -> Outcome:
        """Returns the outcome of a step that needs no request: the planned action, with its reason."""
        return cls(step, step.action, step.reason, step.uid)

    @property
    def is_overridden(self) -> bool:
        """Whether a write has changed nothing that it should have: an admission webhook sets other values in each request."""
        return self.action is Action.UNCHANGED and self.step.action is Action.CONFIGURED and bool(self.step.changes)

    @property
    def is_blocked(self) -> bool:
        """Whether an object is not created, since finalizers of others keep one of its name that is being deleted."""
        return self.action is Action.UNCHANGED and self.step.action is Action.CREATED and bool(self.reason)
