"""Defines the results of the run-time verbs, one class for each; generated code makes them."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.record import record

MAX_NAME_LENGTH = 253
"""The longest `metadata.name` of an Event, in characters: it is a DNS subdomain (RFC 1123)."""


@record
class StatusCondition:
    """Holds a status condition that a rule computed for the object `of`. The applier sets its times."""

    of: ObjectRef
    type: str
    status: str
    reason: str
    message: str
    rule: str


@record
class StatusPatch:
    """Holds status fields of the object `of`. `body` is what stands below `status`; `loop` are the positions of the rule's loops."""

    of: ObjectRef
    body: Manifest
    rule: str
    loop: tuple[int, ...]


@record
class Event:
    """Holds an event to record once. `name` is that of the Event object; `type` is Normal or Warning."""

    of: ObjectRef
    type: str
    reason: str
    message: str
    name: str
    rule: str


@record
class RequestedDeletion:
    """Names an object to delete although it is desired, because its next incarnation is.

    With `is_attributed`, the reason is written onto the object before it is deleted (design §6: deletions are attributed). With
    `despite_failures` it is deleted although other objects of the step cannot be written.
    """

    of: ObjectRef
    reason: str
    rule: str
    loop: tuple[int, ...]
    is_attributed: bool = True
    despite_failures: bool = False


@record
class ObjectWait:
    """Says what an object waits for. `since` is in seconds since the epoch; `on` is the object that it waits for, if it is one.

    `resolve` says what people can do; it is empty where it ends by itself.
    """

    of: ObjectRef
    reason: str
    message: str
    resolve: str
    since: float | None
    on: ObjectRef | None
    rule: str


def event_name(of: ObjectRef, rule: str, dedup_key: str) -> str:
    """Returns the name of the Event of an occurrence, always the same, so that creating it again fails with AlreadyExists.

    An object that was deleted and recreated has another UID, so its events are new, too. `dedup_key` distinguishes occurrences of a rule.
    """
    from hashlib import blake2b  # lazily: it imports OpenSSL, which only events need

    digest = blake2b("\0".join((of.uid or of.id, rule, dedup_key)).encode(), digest_size=8).hexdigest()
    return f"{of.name[: MAX_NAME_LENGTH - 1 - len(digest)].rstrip('-.')}.{digest}"
