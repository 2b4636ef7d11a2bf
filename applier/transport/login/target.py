"""Which server is meant, and how it is to be trusted."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from applier.errors import CredentialsError

if TYPE_CHECKING:
    from applier.transport.login.credentials import Credentials


@dataclass(slots=True, eq=False)
class Target:
    """A server as a kubeconfig or a pod's environment names it. `label` is what to call it in errors: context and file.

    `ca` is PEM text, another one when the file that it is from was replaced; empty stands for the certificates that the machine trusts.
    `headers` go with every request, as those that say for whom we act; a name may come several times.
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
        """Whether the server is on this machine: then nothing is gained by compressing."""
        host = urlsplit(self.server).hostname or ""
        return host == "localhost" or host.startswith("127.") or host == "::1"

    @property
    def encrypted(self) -> bool:
        """Whether the server is spoken to over TLS."""
        return self.server.startswith("https:")


def trust(target: Target, ca: str, certificate: str = "", key: str = "") -> ssl.SSLContext:
    """Returns how to speak TLS to a target whose authority this is, with a client certificate where there is one. All are PEM text.

    Raises `CredentialsError` that says which of them cannot be used.
    """
    part = "certificate authority"
    try:
        context = trusting(ca)
        if target.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        part = "client certificate"
        if certificate:
            _load_pair(context, certificate, key)
        return context
    except (ssl.SSLError, ValueError) as error:
        reason = str(getattr(error, "reason", None) or error).partition("(_ssl.c")[0].replace("_", " ").strip().lower()
        reason = "it is not in PEM" if "no start line" in reason else reason
        raise CredentialsError(f"{target.label or target.server}: its {part} cannot be used: {reason}") from None


def trusting(authority: str) -> ssl.SSLContext:
    """Returns TLS that trusts an authority, given as PEM text; an empty one stands for whom this machine trusts.

    Raises SSLError and ValueError.
    """
    context = ssl.create_default_context(cadata=authority or None)
    # Python 3.13 asks for extensions that the certificate authorities of many clusters do not set; Go, and so kubectl, does not.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _load_pair(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Loads a client certificate from a file, as Python takes no other; it is readable by us alone, and gone at once."""
    import os
    import tempfile

    handle, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(f"{certificate}\n{key}\n")
        context.load_cert_chain(path)
    finally:
        os.unlink(path)
