"""Describes the desired state: objects, what may be done to reach it, and the statuses, events and deletions that go with them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from applier.ref import Kind, Manifest, Ref, uid_of


@dataclass(slots=True, eq=False)
class Policy:
    """Restricts what the applier may do with one object.

    `create_only`: never changed once it exists, but for the places that `follows` names (see `applier.plan.follow`). `adopt`: one that
    somebody else made may be changed, as server-side apply does; without, it is held. `recreate`: deleted and made again when a field
    differs that cannot change. `yields`: JSON pointers of fields that belong to whoever else sets them; they are set on creation and left
    alone afterwards. `force`: managers whose fields may be taken; `*` stands for all.
    """

    create_only: bool = False
    adopt: bool = True
    recreate: bool = False
    yields: tuple[str, ...] = ()
    force: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()


DEFAULT_POLICY = Policy()


@dataclass(slots=True, eq=False)
class Desired:
    """Represents an object that should exist.

    `manifest` is read-only and holds only the fields that we want to own. `owner` is an object of the same graph, or a live one, whose
    UID is filled into the matching entry of `metadata.ownerReferences` as soon as it is known. `after` names objects of the graph that
    have to be there first. `source` says who asks for it, for people: a rule, or a file and line.
    """

    manifest: Manifest
    owner: Ref | None = None
    after: Sequence[Ref] = ()
    policy: Policy = DEFAULT_POLICY
    source: str = ""
    ref: Ref = field(init=False)

    def __post_init__(self) -> None:
        self.ref = Ref.of(self.manifest)


class ObjectReference(NamedTuple):
    """Identifies a live object by kind, name and UID, so that a later object of the same name is not meant."""

    kind: Kind
    ref: Ref
    uid: str

    @classmethod
    def of(cls, live: Manifest) -> ObjectReference:
        """Returns the reference to a live object."""
        return cls(Kind.of(live), Ref.of(live), uid_of(live))


@dataclass(slots=True, eq=False)
class StatusWrite:
    """Represents the status that a live object should have; it is written to the status subresource.

    `status` is read-only and holds only the fields that we want to own. With a `resource_version` it is written over this version of the
    object and no other: for a status that rests on a count or on what it was before. `manager` owns the fields; empty for the usual one.
    """

    of: ObjectReference
    status: Mapping[str, Any]
    resource_version: str = ""
    manager: str = ""


@dataclass(slots=True, eq=False)
class Deletion:
    """Represents a live object to delete even if it is wanted, and the reason.

    `annotations` are written to it first, so that others can tell, too. `is_attributed` says whether its reason is: one more write, which
    is worth it where somebody will ask who deleted the object, and not for a thousand that are merely no longer wanted.
    """

    of: ObjectReference
    reason: str
    annotations: Mapping[str, str] = field(default_factory=dict)
    is_attributed: bool = True


@dataclass(slots=True, eq=False)
class EventWrite:
    """Represents a Kubernetes Event to record once. `type` is Normal or Warning, `reason` one word in CamelCase.

    The name decides what "once" means: an event of a name that exists was told. Without one, the same words about the same object are
    the same event; a `name` of its own is for what may be told again, such as one with the generation in it.
    """

    of: ObjectReference
    type: str
    reason: str
    message: str
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            digest = hashlib.sha256("\0".join((self.of.uid, self.type, self.reason, self.message)).encode()).hexdigest()[:16]
            self.name = f"{self.of.ref.name[:200]}.{digest}"  # names of objects have 253 characters at most


@dataclass(slots=True, eq=False)
class Gone:
    """Represents a key whose object does not exist: what was made for it may be deleted."""


@dataclass(slots=True, eq=False)
class Hold:
    """Represents a key whose input is broken: its objects stay as they are, and `statuses` and `events` say why.

    `requeue_after` is in how many seconds to look again, even if nothing has changed.
    """

    reason: str
    statuses: Sequence[StatusWrite] = ()
    events: Sequence[EventWrite] = ()
    requeue_after: float | None = None


class Cycle(Exception):
    """Reports objects that wait for each other in a cycle; `path` holds their names, the first again at the end."""

    def __init__(self, path: list[Ref]) -> None:
        self.path = path
        super().__init__("objects wait for each other: " + " -> ".join(str(ref) for ref in path))


class Twice(Exception):
    """Reports that one object is declared twice, by `first` and by `second`."""

    def __init__(self, first: Desired, second: Desired) -> None:
        self.first, self.second = first, second
        sources = " and ".join(one.source for one in (first, second) if one.source)
        super().__init__(f"{first.ref} is asked for twice" + (f": by {sources}" if sources else ""))


class Graph:
    """Holds desired objects by name, with what each waits for. Raises `Twice` when one is declared twice.

    What `after` and `owner` name outside the graph is not waited for: it is expected to be there. A loop also writes `statuses` and
    `events`, deletes what `deletions` name, and looks again in `requeue_after` seconds, even if nothing has changed.
    """

    def __init__(
        self,
        objects: Collection[Desired],
        *,
        statuses: Sequence[StatusWrite] = (),
        events: Sequence[EventWrite] = (),
        deletions: Sequence[Deletion] = (),
        requeue_after: float | None = None,
    ) -> None:
        self.statuses, self.events, self.deletions, self.requeue_after = statuses, events, deletions, requeue_after
        self.objects: dict[Ref, Desired] = {}
        for desired in objects:
            first = self.objects.setdefault(desired.ref, desired)
            if first is not desired:
                raise Twice(first, desired)

    def before(self, desired: Desired) -> list[Ref]:
        """Returns the objects of the graph that come first, each once: its owner, then what `after` names."""
        named = desired.after if desired.owner is None else (desired.owner, *desired.after)
        return [ref for ref in dict.fromkeys(named) if ref in self.objects]
