"""Certificates and keys that a kubeconfig gives as they are, or as files."""

from __future__ import annotations

import base64
from pathlib import Path

from applier.errors import CredentialsError
from applier.transport.login.kubeconfig import Entry


def pem(entry: Entry, key: str, said: str) -> str:
    """A certificate or key as PEM text, from `KEY-data`, which goes first, or from a file; empty where there is none.

    Raises `CredentialsError`.
    """
    if data := entry.text(f"{key}-data"):
        try:
            return base64.b64decode("".join(data.split()), validate=True).decode("ascii")
        except ValueError:  # of base64, or of ASCII
            raise CredentialsError(f"{said}: {key}-data is not PEM text in base64") from None
    path = entry.path(key)
    return read_text(path, f"the {key} of {said}") if path else ""


def read_text(path: Path, what: str) -> str:
    """The text of a file; `what` names it in errors. Raises `CredentialsError`, for an empty one too: that would be no certificate."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CredentialsError(f"cannot read {what}: {path}: {getattr(error, 'strerror', None) or 'not text'}") from None
    if not text.strip():
        raise CredentialsError(f"{what} is empty: {path}")
    return text
