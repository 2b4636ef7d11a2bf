"""What rules say about what runs: values that generated code makes, one class for each verb of run time."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.record import record

LONGEST_NAME = 253
"""Of an object, by RFC 1123: `metadata.name` of an Event is a DNS subdomain."""


@record
class Condition:
    """A status condition that the rules computed for an object. Times are the applier's business."""

    of: ObjectRef
    type: str
    status: str
    reason: str
    message: str
    rule: str


@record
class StatusPatch:
    """Fields of an object's status. `body` is what stands below `status`; `loop` are the positions of the rule's loops."""

    of: ObjectRef
    body: Manifest
    rule: str
    loop: tuple[int, ...]


@record
class Event:
    """An occurrence to tell people once. `name` is that of the Event object; `type` is Normal or Warning."""

    of: ObjectRef
    type: str
    reason: str
    message: str
    name: str
    rule: str


@record
class Deletion:
    """An object that has to go although it is wanted: its next incarnation is. `is_attributed` says whether it bears the reason."""

    of: ObjectRef
    reason: str
    rule: str
    loop: tuple[int, ...]
    is_attributed: bool = True


@record
class Wait:
    """Something that an object waits for. `since` is in seconds since the epoch; `on` is the object that it waits for, if it is one.

    `resolve` says what people can do; it is empty where it ends by itself.
    """

    of: ObjectRef
    reason: str
    message: str
    resolve: str
    since: float | None
    on: ObjectRef | None
    rule: str


def event_name(of: ObjectRef, rule: str, once: str) -> str:
    """Names the Event of one occurrence, as a pure function: whoever tells it again gets AlreadyExists, not a second event.

    An object that was deleted and made anew has another UID, so that its events are new as well. `once` tells one occurrence of the
    rule from the next.
    """
    from hashlib import blake2b  # imports OpenSSL, which a start without events need not pay for

    digest = blake2b("\0".join((of.uid or of.id, rule, once)).encode(), digest_size=8).hexdigest()
    return f"{of.name[: LONGEST_NAME - 1 - len(digest)].rstrip('-.')}.{digest}"
