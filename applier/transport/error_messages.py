"""Writes error messages for a server's rejections that name the cause and the remedy."""

from __future__ import annotations

import base64
import datetime
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from applier.errors import ApiError, Cause, Expired, FieldConflict, Forbidden, Invalid, NotFound, ServerFailure, Unauthorized, WriteConflict
from applier.transport.clocks import certificate_times, skew, token_times, why_not_now

if TYPE_CHECKING:
    from applier.transport.login.target import Target
    from applier.transport.retries import ApiRequest


class ServerRefusal(NamedTuple):
    """Holds a rejection with everything that is known about it."""

    error_type: type[ApiError]
    status: int
    message: str
    causes: tuple[Cause, ...]
    details: dict[str, Any]
    request: ApiRequest
    target: Target
    headers: Mapping[str, str]


def sentence(refused: ServerRefusal) -> str:
    """Returns the message for a rejection: one line, without values of Secrets."""
    write = MESSAGES.get(refused.error_type)
    text = write(refused) if write else refused.message
    return hide_values(" ".join(text.split()), refused.request)


RBAC = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) (?:resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"|path "(?P<path>[^"]*)")'
    r'(?: (?:in the namespace "(?P<namespace>[^"]*)"|at the cluster scope))?'
)
ANONYMOUS = "system:anonymous"
QUOTA = re.compile(r"exceeded quota: (?P<quota>[^,]+), requested: (?P<asked>.*?), used: (?P<used>.*?), limited: (?P<limit>.*)")
WEBHOOK = re.compile(r'(?:admission webhook|failed calling webhook|webhook) "(?P<name>[^"]+)"')


def missing_right(message: str) -> tuple[str, str] | None:
    """Returns the verb and the resource for which permission is missing; None for a rejection of another kind."""
    match = RBAC.search(message)
    if match is None:
        return None
    return match["verb"], match["path"] or ".".join(filter(None, (match["resource"], match["group"])))


def _forbidden(refused: ServerRefusal) -> str:
    message = refused.message
    if match := RBAC.search(message):
        return _permission(match, applying=isinstance(refused.request.sent, dict) and "apiVersion" in refused.request.sent)
    if match := QUOTA.search(message):
        return f"quota {match['quota']} is exceeded: requested {match['asked']}, used {match['used']}, limit {match['limit']}"
    if any(cause.reason == "NamespaceTerminating" for cause in refused.causes) or "because it is being terminated" in message:
        namespace = refused.request.ref.namespace if refused.request.ref else ""
        return f"namespace {namespace!r} is being deleted: nothing can be created in it until it is deleted and recreated"
    return message


def _permission(match: re.Match[str], *, applying: bool) -> str:
    """Describes a missing permission, and the rule of a Role or ClusterRole that would grant it. An apply needs two verbs."""
    user, verb, namespace = match["user"], match["verb"], match["namespace"]
    if user == ANONYMOUS:
        what = match["path"] or match["resource"]
        return f"the request is not authenticated ({ANONYMOUS}), and anonymous users may not {verb} {what}; log in, or provide credentials"
    if match["path"]:
        rule = f'{{nonResourceURLs: ["{match["path"]}"], verbs: ["{verb}"]}}'
        return f'user "{user}" may not {verb} {match["path"]}; a ClusterRole with the rule {rule} allows it'
    resource, group = match["resource"], match["group"]
    where = f'in namespace "{namespace}"' if namespace else "in the whole cluster"
    role = "a Role there" if namespace else "a ClusterRole"
    verbs = '"create", "patch"' if applying and verb in ("create", "patch") else f'"{verb}"'
    rule = f'{{apiGroups: ["{group}"], resources: ["{resource}"], verbs: [{verbs}]}}'
    return f'user "{user}" may not {verb} {resource}{f".{group}" if group else ""} {where}; {role} with the rule {rule} allows it'


def _fields(refused: ServerRefusal) -> str:
    """Lists the fields in conflict by their managers."""
    owned: dict[str, list[str]] = {}
    for cause in refused.causes:
        manager = re.search(r'conflict with "([^"]+)"', cause.message)
        owned.setdefault(manager[1] if manager else "another manager", []).append(cause.field)
    parts = [f"{manager!r} owns {', '.join(fields)}" for manager, fields in owned.items()]
    return f"{'; '.join(parts)}, with other values"


def _unauthorized(refused: ServerRefusal) -> str:
    """Explains why credentials may be rejected: expired, not yet valid, or clocks that differ."""
    target, now = refused.target, datetime.datetime.now(datetime.UTC)
    header, (certificate, _) = target.credentials.authorization(), target.credentials.pair
    hints = [
        why_not_now("the token", token_times(header), now),
        why_not_now("the client certificate", certificate_times(certificate), now),
        skew(refused.headers, now),
    ]
    if not header and not certificate:
        hints.append("there are none")
    why = "; ".join(hint for hint in hints if hint) or "log in again, or renew them"
    return f"the server does not accept the credentials of {target.label or target.server}: {why}"


def _not_found(refused: ServerRefusal) -> str:
    details, request = refused.details, refused.request
    if details.get("kind") == "namespaces" and request.plural != "namespaces":
        return f"namespace {str(details.get('name'))!r} does not exist"
    return refused.message


def _invalid(refused: ServerRefusal) -> str:
    if refused.status == 413 or "too large" in refused.message or "larger than max" in refused.message:
        limit = re.search(r"limit is (\d+)", refused.message)
        most = f"{int(limit[1]) / 2**20:.3g} MiB" if limit else "about 1.5 MiB, unless etcd is configured otherwise"
        return f"the object is too large for the server: the limit is {most}"
    return refused.message


def _failure(refused: ServerRefusal) -> str:
    message = refused.message
    if match := WEBHOOK.search(message):
        why = message.rpartition('": ')[2]
        if "deadline exceeded" in message or "Timeout" in message or "timed out" in message:
            return f'webhook "{match["name"]}" did not answer in time'
        return f'webhook "{match["name"]}" cannot be called: {why}'
    return f"the server failed ({refused.status}): {message}"


def _write_conflict(refused: ServerRefusal) -> str:
    message = refused.message
    if re.search(r"UID in (the )?precondition|uid mismatch", message):
        return "an object of this name exists, but it is not the one that was read: its UID differs"
    if re.search(r"object has been modified|ResourceVersion in (the )?precondition|resourceVersion.* in (the )?precondition", message):
        return "the object was changed by another client since it was read"
    return message


def _gone(refused: ServerRefusal) -> str:
    return f"the server no longer keeps this part of its history: {refused.message}"


MESSAGES = {
    Forbidden: _forbidden,
    FieldConflict: _fields,
    Unauthorized: _unauthorized,
    NotFound: _not_found,
    Invalid: _invalid,
    ServerFailure: _failure,
    WriteConflict: _write_conflict,
    Expired: _gone,
}

GO_VALUE = re.compile(r"&value\.valueUnstructured\{Value:.*?\}")
MIN_LENGTH = 3  # characters of a value that is replaced: shorter ones would occur everywhere


def hide_values(text: str, request: ApiRequest) -> str:
    """Hides the values of the Secret that was sent, which servers and webhooks may quote in errors, encoded or decoded."""
    if request.ref is None or (request.ref.group, request.ref.kind) != ("", "Secret"):
        return text
    text = GO_VALUE.sub("a hidden value", text)
    for value in sorted(_values(request.sent), key=len, reverse=True):
        if len(value) >= MIN_LENGTH:
            text = text.replace(value, "(hidden)")
    return text


def _values(sent: Any) -> set[str]:
    """Returns the values of a Secret, a merge patch or a JSON patch, both as sent and decoded."""
    if isinstance(sent, list):
        parts = [one.get("value") for one in sent if isinstance(one, dict)]
    else:
        parts = [sent.get(part) for part in ("data", "stringData")] if isinstance(sent, dict) else []
    plain = {str(value) for part in parts for value in _leaves(part)}
    return plain | {_decoded(value) for value in plain}


def _leaves(given: Any) -> list[Any]:
    """Returns the scalars in nested maps and lists."""
    if isinstance(given, dict):
        return [leaf for value in given.values() for leaf in _leaves(value)]
    if isinstance(given, list):
        return [leaf for value in given for leaf in _leaves(value)]
    return [] if given is None else [given]


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except ValueError:  # not base64, or not text
        return ""
