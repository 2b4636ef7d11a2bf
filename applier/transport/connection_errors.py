"""Writes error messages for requests that got no response."""

from __future__ import annotations

import datetime
import errno
import socket
import ssl

from applier.errors import Unreachable, Untrusted
from applier.http import ConnectionEnded, HttpError, Malformed, NotConnected, ProxyRefused

NOT_YET_VALID, EXPIRED = 9, 10  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED

ConnectionErrors = (HttpError, TimeoutError, OSError)
"""The exceptions of a request that got no response."""


def unreachable(error: BaseException, server: str, label: str, *, reading: bool) -> Unreachable:
    """Returns the error for a request that got no response. A `reading` request cannot have changed anything."""
    sent = not isinstance(error, NotConnected | ProxyRefused)
    where = f"{server} ({label})" if label else server
    text, passing = _sentence(error)
    kind = Untrusted if isinstance(error.__cause__, ssl.SSLCertVerificationError) else Unreachable
    return kind(f"{where} {text}" if sent else f"cannot reach {where}: {text}", maybe_done=sent and not reading, passing=passing)


def _sentence(error: BaseException) -> tuple[str, bool]:
    """Returns the message, and whether the error may be temporary."""
    match error:
        case NotConnected():
            return _not_connected(error, error.__cause__ or error)
        case ProxyRefused():
            what = "requires a user and a password in its URL" if error.status == 407 else f"answers {error.status}"
            return f"its proxy rejects us: it {what}", False
        case TimeoutError():
            return "did not answer in time", True
        case ConnectionEnded():
            return "closed the connection before its response was complete", True
        case Malformed():
            return f"does not respond like an HTTP server: {error}", False
        case _:
            return f"broke the connection: {_reason(error)}", True


def _not_connected(error: NotConnected, cause: BaseException) -> tuple[str, bool]:
    """Returns why there is no connection, and whether that may be temporary."""
    match cause:
        case _ if error.proxy:
            return f"its proxy {error.proxy} does not answer: {_reason(cause)}", not isinstance(cause, ssl.SSLError | Malformed)
        case ssl.SSLCertVerificationError():
            return _certificate(cause), False
        case ssl.SSLError():
            return _handshake(cause), False
        case socket.gaierror():
            return f"the name {error.host} cannot be resolved (DNS: {_reason(cause)})", True
        case TimeoutError():
            return "there is no response from this address; is there a firewall or VPN in between?", True
        case _:
            return _refused(cause), True


def _reason(error: BaseException) -> str:
    """Returns the text of an error without its number."""
    return str(getattr(error, "strerror", None) or error or type(error).__name__).replace("\n", " ")


def _refused(error: BaseException) -> str:
    if getattr(error, "errno", None) == errno.ECONNREFUSED or "refused" in str(error).lower():
        return "the connection is refused; is the server running, and is this its port?"
    return _reason(error)


def _certificate(error: Exception) -> str:
    """Explains why a server's certificate is not accepted; names our time, since a wrong clock looks like a wrong certificate."""
    code = getattr(error, "verify_code", 0)
    text = getattr(error, "verify_message", "") or _reason(error)
    if code in (NOT_YET_VALID, EXPIRED):
        ours = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        state = "is not yet valid" if code == NOT_YET_VALID else "has expired"
        return f"its certificate {state}, if this machine's clock ({ours}) is correct"
    if "self-signed" in text or "self signed" in text or "unable to get" in text:
        return f"its certificate is signed by an authority that is not trusted ({text}); set certificate-authority"
    if "mismatch" in text.lower() or "doesn't match" in text or "not valid for" in text:
        return f"its certificate is for another name ({text.rstrip('.')}); set tls-server-name, or use the name that it is for"
    return f"its certificate is not accepted ({text})"


def _handshake(error: OSError) -> str:
    reason = str(getattr(error, "reason", "") or error)
    if isinstance(error, ssl.SSLError) and any(word in reason for word in ("WRONG_VERSION_NUMBER", "RECORD_LAYER", "HTTP_REQUEST")):
        return "it does not speak TLS; should the address begin with http:// ?"
    if "alert" in reason.lower():
        return f"it rejected the TLS handshake ({reason.replace('_', ' ').lower()}); is the client certificate the right one?"
    return f"the TLS handshake failed ({reason.replace('_', ' ').lower()})"
