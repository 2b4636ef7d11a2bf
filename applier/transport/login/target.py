"""Represents the server to connect to, and its TLS context."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from applier.errors import CredentialsError
from applier.tls_files import load_pair
from applier.transport.login.kubeconfig import KubeconfigEntry

if TYPE_CHECKING:
    from applier.transport.login.credentials import Credentials

NAME_CHARACTERS = "!#$&'*+-.^_`|~"
"""The characters of a header's name besides letters and digits (RFC 9110, section 5.6.2), without the percent sign."""


@dataclass(slots=True, eq=False)
class Target:
    """Represents a server from a kubeconfig or a pod's environment. `label` names it in errors: context and file.

    `ca` is the certificate authority in PEM form, updated when its file changes; empty for those that the machine trusts. `headers` are
    sent with every request, such as those of impersonation; a name may occur several times.
    """

    server: str
    credentials: Credentials
    namespace: str = "default"
    context: str = ""
    label: str = ""
    ca: str = ""
    server_name: str = ""
    insecure: bool = False
    proxy: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def loopback(self) -> bool:
        """Reports whether the server is on this machine, so that compression gains nothing."""
        host = urlsplit(self.server).hostname or ""
        return host == "localhost" or host.startswith("127.") or host == "::1"

    @property
    def encrypted(self) -> bool:
        """Reports whether the server uses TLS."""
        return self.server.startswith("https:")


def trust(target: Target, ca: str, certificate: str = "", key: str = "") -> ssl.SSLContext:
    """Returns the TLS context for a target with this authority, and a client certificate if there is one. All are in PEM form.

    Raises `CredentialsError`, with the part that cannot be used.
    """
    part = "certificate authority"
    try:
        context = trusting(ca)
        if target.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        part = "client certificate"
        if certificate:
            load_pair(context, certificate.encode(), key.encode())
        return context
    except (ssl.SSLError, ValueError) as error:
        reason = str(getattr(error, "reason", None) or error).partition("(_ssl.c")[0].replace("_", " ").strip().lower()
        reason = "it is not in PEM" if "no start line" in reason else reason
        raise CredentialsError(f"{target.label or target.server}: its {part} cannot be used: {reason}") from None


def trusting(authority: str) -> ssl.SSLContext:
    """Returns a TLS context that trusts an authority in PEM form; an empty one means the authorities that the machine trusts.

    Raises SSLError and ValueError.
    """
    context = ssl.create_default_context(cadata=authority or None)
    # Python 3.13 requires extensions that the certificate authorities of many clusters lack; Go, and so kubectl, does not.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


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
