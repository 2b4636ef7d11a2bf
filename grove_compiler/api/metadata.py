"""What every object carries: metadata, and the conditions and errors of its status."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from grove_compiler.api.kube import Crd, Kube, Labels, Time, list_map


class OwnerReference(Kube):
    """The object that this one is deleted with."""

    api_version: str
    """API version of the owner."""
    kind: str
    """Kind of the owner."""
    name: str
    """Name of the owner."""
    uid: str | None = None
    """UID of the owner; objects that exist only on paper have none."""
    controller: bool | None = None
    """Whether the owner is the managing controller."""
    block_owner_deletion: bool | None = None
    """Whether foreground deletion of the owner waits for this object."""


class ObjectMeta(Kube):
    """Standard object metadata."""

    name: str | None = None
    """Name, unique among the objects of the kind and namespace."""
    generate_name: str | None = None
    """Prefix for a name that the API server makes."""
    namespace: str | None = None
    """Namespace of the object."""
    labels: Labels | None = None
    """Labels that selectors match."""
    annotations: Labels | None = None
    """Annotations for tools."""
    owner_references: list[OwnerReference] | None = None
    """Objects that this one depends on."""
    finalizers: list[str] | None = None
    """What has to happen before the object is removed."""
    uid: str | None = None
    """Set by the API server."""
    resource_version: str | None = None
    """Set by the API server."""
    generation: int | None = None
    """Set by the API server."""
    self_link: str | None = None
    """Set by old API servers."""
    creation_timestamp: Time | None = None
    """Set by the API server."""
    deletion_timestamp: Time | None = None
    """Set by the API server."""
    deletion_grace_period_seconds: int | None = None
    """Set by the API server."""
    managed_fields: list[dict[str, Any]] | None = None
    """Set by the API server: who owns which field."""


class KubernetesObject(Kube):
    """Base of the kinds that an API server stores. A subclass narrows `api_version` and `kind` to its own."""

    crd: ClassVar[Crd]
    api_version: str
    """Version of the API that the object is written in."""
    kind: str
    """Kind of the object."""
    metadata: ObjectMeta
    """Standard object metadata."""


class Condition(Kube):
    """One aspect of an object's state (metav1.Condition)."""

    type: Annotated[
        str,
        Field(
            max_length=316,
            pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        ),
    ]
    """Type of the condition in CamelCase."""
    status: Literal["True", "False", "Unknown"]
    """Whether the condition holds."""
    reason: Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")]
    """Why, as one word in CamelCase."""
    message: Annotated[str, Field(max_length=32768)]
    """Why, for people."""
    last_transition_time: Time
    """When the status last changed."""
    observed_generation: Annotated[int, Field(ge=0)] | None = None
    """Generation of the object that the condition is about."""


Conditions = Annotated[list[Condition], list_map("type")]


class LastError(Kube):
    """A failure of the last reconciliation."""

    code: str
    """Code of the error."""
    description: str
    """The whole text of the error."""
    observed_at: Time
    """When it happened."""
