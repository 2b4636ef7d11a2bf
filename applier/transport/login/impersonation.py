"""Acting as somebody else: what a kubeconfig's `as` fields make of each request."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from applier.errors import CredentialsError
from applier.transport.login.kubeconfig import Entry

NAME_CHARACTERS = "!#$&'*+-.^_`|~"
"""What a header's name may have besides letters and digits (RFC 9110, section 5.6.2), without the percent sign."""


def impersonation(user: Entry) -> tuple[tuple[str, str], ...]:
    """The headers that say as whom the server is to take us, one for each group and value. Raises `CredentialsError`."""
    name, uid = user.text("as"), user.text("as-uid")
    groups, extra = _texts(user, user.value.get("as-groups"), "as-groups"), _extra(user)
    if not name:
        if uid or groups or extra:
            raise CredentialsError(f"{user.said} has as-uid, as-groups or as-user-extra, and no `as` that says who is meant")
        return ()
    headers = [("Impersonate-User", name), *([("Impersonate-Uid", uid)] if uid else [])]
    headers += [("Impersonate-Group", group) for group in groups]
    headers += [(f"Impersonate-Extra-{quote(key, NAME_CHARACTERS)}", value) for key, values in extra.items() for value in values]
    for _, value in headers:
        if not value.isprintable():
            raise CredentialsError(f"{user.said} is to act as {value!r}, which no header can carry")
    return tuple(headers)


def _extra(user: Entry) -> dict[str, list[str]]:
    given = user.value.get("as-user-extra") or {}
    if not isinstance(given, dict):
        raise CredentialsError(f"{user.said} has an as-user-extra that is no map of lists")
    return {str(key): _texts(user, values, f"as-user-extra.{key}") for key, values in given.items()}


def _texts(user: Entry, given: Any, key: str) -> list[str]:
    if given is None:
        return []
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        return given
    raise CredentialsError(f"{user.said} has {key} that are no list of texts")
