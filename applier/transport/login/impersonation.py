"""Builds the headers of user impersonation from a kubeconfig's `as` fields."""

from __future__ import annotations

from urllib.parse import quote

from applier.errors import CredentialsError
from applier.transport.login.kubeconfig import KubeconfigEntry

NAME_CHARACTERS = "!#$&'*+-.^_`|~"
"""The characters of a header's name besides letters and digits (RFC 9110, section 5.6.2), without the percent sign."""


def impersonation(user: KubeconfigEntry) -> tuple[tuple[str, str], ...]:
    """Returns the impersonation headers, one for each group and value. Raises `CredentialsError`."""
    name, uid = user.text("as"), user.text("as-uid")
    groups, extra = user.texts("as-groups"), _extra(user)
    if not name:
        if uid or groups or extra:
            raise CredentialsError(f"{user.label} has as-uid, as-groups or as-user-extra, but no `as`")
        return ()
    headers = [("Impersonate-User", name), *([("Impersonate-Uid", uid)] if uid else [])]
    headers += [("Impersonate-Group", group) for group in groups]
    headers += [(f"Impersonate-Extra-{quote(key, NAME_CHARACTERS)}", value) for key, values in extra.items() for value in values]
    for _, value in headers:
        if not value.isprintable():
            raise CredentialsError(f"{user.label} impersonates {value!r}, which cannot be sent in a header")
    return tuple(headers)


def _extra(user: KubeconfigEntry) -> dict[str, list[str]]:
    given = user.value.get("as-user-extra") or {}
    if not isinstance(given, dict):
        raise CredentialsError(f"{user.label} has an as-user-extra that is not a map of lists")
    extra = KubeconfigEntry(given, user.file, f"as-user-extra of {user.label}")
    return {key: extra.texts(key) for key in given}
