"""Models requests that only admission sees: edits of objects that the operator manages, and changes of replicas."""

from __future__ import annotations

from grove_compiler.record import record


@record
class ManagedEdit:
    """An admission request about an object that the operator manages.

    `operation` is CREATE, UPDATE or DELETE; `user` is the requesting user, `operator` the operator's own user, and `exempt` are the users
    that the configuration exempts. `set_name` is the PodCliqueSet that the object's label names, empty without one; `has_set` is whether it
    exists and the object is its, or is to be, `is_unprotected` whether it is terminating or its annotation disables the protection.
    """

    operation: str
    kind: str
    name: str
    user: str
    operator: str
    exempt: list[str]
    set_name: str
    has_set: bool
    is_unprotected: bool


@record
class ScaleRequest:
    """A request to change replicas through a scale subresource. `minimum` is the object's `minAvailable`, 0 without one."""

    kind: str
    name: str
    replicas: int
    old_replicas: int
    minimum: int
