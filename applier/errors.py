"""Defines the errors of requests to a server, each with a message of one clear sentence."""

from __future__ import annotations

from typing import Any, NamedTuple


class Cause(NamedTuple):
    """Represents one cause in a server's Status: its reason, its field, and the server's message."""

    reason: str
    field: str
    message: str


class ApplierError(Exception):
    """Base of everything that the applier reports. Its message is one line that a person can act on."""


class ClusterError(ApplierError):
    """Reports a request that did not succeed."""


class Unreachable(ClusterError):
    """Reports that no response came. With `maybe_done` the request may have been carried out all the same.

    `passing` says that it may work a moment later: a reset passes, a certificate that nobody trusts does not.
    """

    def __init__(self, message: str, *, maybe_done: bool = False, passing: bool = True) -> None:
        super().__init__(message)
        self.maybe_done, self.passing = maybe_done, passing


class Untrusted(Unreachable):
    """Reports a server certificate that our certificate authority did not sign: either of the two may have been replaced."""


class CredentialsError(ClusterError):
    """Reports a kubeconfig, token or certificate that cannot be used."""


class UnknownKind(ClusterError):
    """Reports a kind that the server does not serve; its CRD may be missing."""


class NotSynced(ApplierError, KeyError):
    """Reports that the live state is not known for sure: a kind is not watched, served or listed yet, or its watch is broken.

    A KeyError, so that whoever looks for an object can tell "I do not know" from "there is none" without knowing of caches. `cause` is
    what the server said when it was asked, if that is why.
    """

    def __init__(self, text: str, cause: Exception | None = None) -> None:
        super().__init__(text)
        self.cause = cause

    def __str__(self) -> str:
        return str(self.args[0])  # and not its repr, which is what KeyError gives


class ApiError(ClusterError):
    """Reports a server's refusal: its HTTP status, and the `reason`, message and causes of its Status object.

    `retry_after` is in seconds, and None where the server did not say.
    """

    def __init__(
        self, status: int, reason: str, message: str, causes: tuple[Cause, ...] = (), retry_after: float | None = None, details: Any = None
    ) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message
        self.causes, self.retry_after, self.details = causes, retry_after, details


class NotFound(ApiError):
    """404: no such object, or no such namespace."""


class AlreadyExists(ApiError):
    """409: an object of this name exists."""


class WriteConflict(ApiError):
    """409: the object has moved on, or its UID is another one."""


class FieldConflict(ApiError):
    """409: other managers own fields of this apply with other values; the causes name field and manager."""


class Invalid(ApiError):
    """422 or 400: the server does not accept the object; the causes name the fields."""


class Forbidden(ApiError):
    """403: permission is missing, a quota is used up, or admission refused."""

    @property
    def missing(self) -> tuple[str, str]:
        """The verb and the resource (`podgangs.scheduler.grove.io`) for which permission is missing; empty where that is not why."""
        verb, resource = (self.details or {}).get("missing") or ("", "")
        return verb, resource


class Unauthorized(ApiError):
    """401: the credentials are wrong or too old."""


class Expired(ApiError):
    """410: this part of the history is no longer kept; list again."""


class TooManyRequests(ApiError):
    """429: slow down."""


class ServerFailure(ApiError):
    """5xx: the server, or a webhook behind it, failed or took too long."""
