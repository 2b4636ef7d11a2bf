"""What somebody wants to do with an object that the operator keeps, or with a number of replicas: what only admission is asked about."""

from __future__ import annotations

from grove_compiler.record import record


@record
class ManagedEdit:
    """A request about an object that the operator keeps.

    `operation` is CREATE, UPDATE or DELETE; `user` is who asks, `operator` the user name of the operator, and `exempt` are those that the
    configuration lets pass. `set_name` is the PodCliqueSet that the object's label names, empty without one; `has_set` says whether it
    is there, `is_open` that it is being deleted or lets others change its objects.
    """

    operation: str
    kind: str
    name: str
    user: str
    operator: str
    exempt: list[str]
    set_name: str
    has_set: bool
    is_open: bool


@record
class ScaleRequest:
    """A request for another number of replicas, through a scale subresource. `minimum` is the object's `minAvailable`, 0 without one."""

    kind: str
    name: str
    replicas: int
    old_replicas: int
    minimum: int
