"""Describes the desired state: objects with their policies, and the statuses, events and deletions to write along with them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from applier.ref import Kind, Manifest, Ref, uid_of


@dataclass(slots=True, frozen=True)
class Policy:
    """Restricts what the applier may do with one object.

    `create_only`: it is never changed once it exists, except for the fields in `follows` (see `applier.plan.follow`). `adopt`: it may be
    changed if another client has created it, as with server-side apply; otherwise it is held. `recreate`: it is deleted and created again
    if an immutable field differs. `yields`: JSON pointers of fields that other managers may own; they are set on creation, and left
    unchanged once another manager sets them. `part`: only a part of the object is ours, so nobody's ownership of fields is taken over: what
    we took over and do not apply would be removed. Nor would it do to apply a part as the manager that owns the rest, which has one of its
    own for parts. `force`: the managers whose fields may be taken over; `*` stands for all. `optional`: JSON pointers of fields that
    are left out where the server's schema does not declare them (see `applier.plan.declared`).
    """

    create_only: bool = False
    adopt: bool = True
    recreate: bool = False
    part: bool = False
    yields: tuple[str, ...] = ()
    force: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


DEFAULT_POLICY = Policy()


@dataclass(slots=True, eq=False)
class AwaitedGroup:
    """Represents objects that others wait for together, such as all that a rule has made.

    Those that wait share the group: a thousand that wait for a thousand are two thousand references and not a million.
    """

    refs: Sequence[Ref]


@dataclass(slots=True, eq=False)
class Desired:
    """Represents an object that should exist.

    `manifest` is read-only and has only the fields that we want to own. `owner` is an object of the same graph, or a live one, whose UID
    is set in the matching entry of `metadata.ownerReferences` as soon as it is known. `after` are objects of the graph that have to exist
    first, and `groups` more of them. `source` is where it is declared, for messages: a rule, or a file and line.
    """

    manifest: Manifest
    owner: Ref | None = None
    after: Sequence[Ref] = ()
    policy: Policy = DEFAULT_POLICY
    source: str = ""
    groups: Sequence[AwaitedGroup] = ()
    ref: Ref = field(init=False)

    def __post_init__(self) -> None:
        self.ref = Ref.of(self.manifest)

    @property
    def awaited(self) -> Iterator[Ref]:
        """What `after` and the `groups` name."""
        yield from self.after
        for group in self.groups:
            yield from group.refs


class ObjectReference(NamedTuple):
    """Identifies a live object by kind, name and UID, so that it does not match a later object of the same name."""

    kind: Kind
    ref: Ref
    uid: str

    @classmethod
    def of(cls, live: Manifest) -> ObjectReference:
        """Returns the reference to a live object."""
        return cls(Kind.of(live), Ref.of(live), uid_of(live))


@dataclass(slots=True, eq=False)
class StatusWrite:
    """Represents the desired status of a live object, which is written to the status subresource.

    `status` is read-only and has only the fields that we want to own. With a `resource_version` it is only written over this version of the
    object: for a status that depends on a count or on the previous status. `manager` owns the fields; empty for the default one. Fields in
    `removes` that it lacks are removed, also where somebody else has written them: an apply leaves those. Without one that is `decisive` no
    objects are applied: it records what must never be created again.
    """

    of: ObjectReference
    status: Mapping[str, Any]
    resource_version: str = ""
    manager: str = ""
    removes: Collection[str] = ()
    decisive: bool = False


@dataclass(slots=True, eq=False)
class Deletion:
    """Represents a live object to delete even if it is desired, and the reason.

    `annotations` are written to it before. With `is_attributed` the reason is, too (see `DeletionOptions`): an additional write, which is
    worthwhile for an object whose deletion users will ask about, but not for a thousand that are merely no longer desired. Objects that
    could not be applied hold it, unless it is `despite_failures`: for an object that serves nobody, or that others wait for.
    """

    of: ObjectReference
    reason: str
    annotations: Mapping[str, str] = field(default_factory=dict)
    is_attributed: bool = True
    despite_failures: bool = False


@dataclass(slots=True, eq=False)
class EventWrite:
    """Represents a Kubernetes Event to record once. `type` is Normal or Warning, `reason` one word in CamelCase.

    The name identifies the occurrence: it is not recorded if an event of this name exists. By default, the name is derived from object,
    type, reason and message. An explicit `name`, for example with a generation in it, is for events that may occur again.
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
    """Represents a key whose object does not exist: the objects that were created for it may be deleted."""


@dataclass(slots=True, eq=False)
class Hold:
    """Represents a key whose input is invalid: its objects are left unchanged, and `statuses` and `events` report the reason.

    The key is reconciled again after `requeue_after` seconds, even if nothing has changed.
    """

    reason: str
    statuses: Sequence[StatusWrite] = ()
    events: Sequence[EventWrite] = ()
    requeue_after: float | None = None


class Cycle(Exception):
    """Reports objects that wait for each other in a cycle; `path` has their names, the first one again at the end."""

    def __init__(self, path: list[Ref]) -> None:
        self.path = path
        super().__init__("objects wait for each other: " + " -> ".join(str(ref) for ref in path))


class DuplicateObject(Exception):
    """Reports that one object is declared twice, by `first` and by `second`."""

    def __init__(self, first: Desired, second: Desired) -> None:
        self.first, self.second = first, second
        sources = " and ".join(desired.source for desired in (first, second) if desired.source)
        super().__init__(f"{first.ref} is declared twice" + (f": by {sources}" if sources else ""))


class Graph:
    """Holds desired objects by name, with their dependencies. Raises `DuplicateObject` if one is declared twice.

    Objects that are waited for and are not in the graph are expected to exist, and are not waited for. A loop also writes `statuses`
    and `events`, carries out `deletions`, and reconciles the key again after `requeue_after` seconds, even if nothing has changed.
    With `keep`, a reason, objects of the key that are not in the graph stay: it has what is needed, and not all that is wanted.
    """

    def __init__(
        self,
        objects: Collection[Desired],
        *,
        statuses: Sequence[StatusWrite] = (),
        events: Sequence[EventWrite] = (),
        deletions: Sequence[Deletion] = (),
        requeue_after: float | None = None,
        keep: str = "",
    ) -> None:
        self.statuses, self.events, self.deletions, self.requeue_after = statuses, events, deletions, requeue_after
        self.keep = keep
        self.objects: dict[Ref, Desired] = {}
        for desired in objects:
            first = self.objects.setdefault(desired.ref, desired)
            if first is not desired:
                raise DuplicateObject(first, desired)

    def before(self, desired: Desired) -> list[Ref]:
        """Returns the objects of the graph that come first, each once: its owner, then those that it waits for, alone and in groups."""
        named = desired.awaited if desired.owner is None else (desired.owner, *desired.awaited)
        return [ref for ref in dict.fromkeys(named) if ref in self.objects]

    def waits(self, desired: Desired) -> list[Ref | AwaitedGroup]:
        """Returns the same with the groups as a whole, some of whose objects may not be in the graph."""
        named = desired.after if desired.owner is None else (desired.owner, *desired.after)
        return [*(ref for ref in dict.fromkeys(named) if ref in self.objects), *desired.groups]
