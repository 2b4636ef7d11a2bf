"""Defines the errors of requests to a server, each with a message of one clear sentence."""

from __future__ import annotations

from typing import Any, NamedTuple


class Cause(NamedTuple):
    """Represents one cause in a server's Status: its reason, its field, and the server's message."""

    reason: str
    field: str
    message: str


class ApplierError(Exception):
    """The base of all errors of the applier. The message is one line that users can act on."""


class ClusterError(ApplierError):
    """Reports a request that did not succeed."""


class Unreachable(ClusterError):
    """Reports that no response came. With `maybe_done` the request may have been carried out nevertheless.

    `passing` marks an error that is likely to be temporary, such as a reset connection, unlike an untrusted certificate.
    """

    def __init__(self, message: str, *, maybe_done: bool = False, passing: bool = True) -> None:
        super().__init__(message)
        self.maybe_done, self.passing = maybe_done, passing


class Untrusted(Unreachable):
    """Reports a server certificate that our certificate authority has not signed: either may have been replaced."""


class CredentialsError(ClusterError):
    """Reports a kubeconfig, token or certificate that cannot be used."""


class UnknownKind(ClusterError):
    """Reports a kind that the server does not serve; its CRD may be missing."""


class NotSynced(ApplierError, KeyError):
    """Reports that the cached live state may be stale: a kind is not watched, served or listed yet, or its watch is broken.

    It is a KeyError, so that callers can distinguish an unknown object from one that does not exist without depending on caches. `cause`
    is the server's error, if one caused it.
    """

    def __init__(self, text: str, cause: Exception | None = None) -> None:
        super().__init__(text)
        self.cause = cause

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would return its repr


class ApiError(ClusterError):
    """Reports a server's rejection: its HTTP status, and the `reason`, message and causes of its Status object.

    `retry_after` is in seconds; None if the server did not send it.
    """

    def __init__(
        self, status: int, reason: str, message: str, causes: tuple[Cause, ...] = (), retry_after: float | None = None, details: Any = None
    ) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message
        self.causes, self.retry_after, self.details = causes, retry_after, details


class NotFound(ApiError):
    """404: the object or its namespace does not exist."""


class AlreadyExists(ApiError):
    """409: an object with this name exists."""


class WriteConflict(ApiError):
    """409: the object has another resourceVersion or UID than the request."""


class FieldConflict(ApiError):
    """409: other managers own fields of this apply with different values; the causes name field and manager."""


class Invalid(ApiError):
    """422 or 400: the object is invalid; the causes name the fields."""


class TakenBack(Invalid):
    """Reports an object that was created, and deleted again, since an admission webhook had made it one that nobody would find."""


class Forbidden(ApiError):
    """403: permission is missing, a quota is exceeded, or admission has denied the request."""

    @property
    def missing(self) -> tuple[str, str]:
        """The verb and the resource (`podgangs.scheduler.grove.io`) for which permission is missing; empty for other causes."""
        verb, resource = (self.details or {}).get("missing") or ("", "")
        return verb, resource


class Unauthorized(ApiError):
    """401: the credentials are invalid or expired."""


class Expired(ApiError):
    """410: the server no longer has this resourceVersion, and a new list is needed."""


class TooManyRequests(ApiError):
    """429: the server throttles requests."""


class ServerFailure(ApiError):
    """5xx: the server, or a webhook that it called, failed or timed out."""


REFUSALS = (Forbidden, ServerFailure, TooManyRequests)
"""What a server may say of one kind, and serve the others."""
