"""Decides from a Secret, the time and the server's names whether its certificates serve on, or which are made anew. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from cryptography import x509

from grove_compiler.graph.node import Manifest
from grove_compiler.record import record
from grove_operator.webhooks import authority
from grove_operator.webhooks.authority import Material, Pair

KEYS = ("ca.crt", "ca.key", "tls.crt", "tls.key")
"""Those of the shipped operator's Secret, and of the type kubernetes.io/tls."""
RENEWED_AT = 2 / 3
"""How much of its life a certificate has behind it when it is made anew. So an operator that is away for a week misses nothing."""

Action = Literal["keep", "sign", "replace"]
"""The certificates serve on; the authority signs another for the server; both are made anew."""


@record
class Decision:
    """What is to be done, and why, in a few words; `material` is what the Secret holds, where it can be used for now."""

    action: Action
    reason: str = ""
    material: Material | None = None


def decide(secret: Manifest | None, now: datetime, names: Sequence[str]) -> Decision:
    """Returns what becomes of the certificates that a Secret holds, of a server that is reached under these names."""
    if secret is None:
        return Decision("replace", "there is no Secret")
    held = read(secret)
    if held is None:
        return Decision("replace", f"the Secret lacks {' or '.join(KEYS)}")
    for word, pair in (("authority", held.authority), ("certificate", held.serving)):
        if fault := authority.fault_of(pair):
            return Decision("replace" if word == "authority" else "sign", f"its {word} {fault}")
    issuer, shown = held.authority.x509, held.serving.x509
    if fault := _authority_fault(issuer, now):
        return Decision("replace", fault, held if _is_current(shown, now) and authority.is_signed_by(shown, issuer) else None)
    if not authority.is_signed_by(shown, issuer):
        return Decision("sign", "its certificate is not of its authority")
    if not set(names) <= authority.names_of(shown):
        return Decision("sign", "the server has another name", held if _is_current(shown, now) else None)
    if _is_old(shown, now):
        return Decision("sign", f"its certificate ends on {shown.not_valid_after_utc:%Y-%m-%d}", held if _is_current(shown, now) else None)
    return Decision("keep", "", held)


def make(decision: Decision, secret: Manifest | None, now: datetime, names: Sequence[str]) -> Material:
    """Returns the material after a decision to sign or to replace."""
    held = read(secret) if secret is not None and decision.action == "sign" else None
    issuer = held.authority if held is not None else authority.make_authority(now)
    return Material(issuer, authority.sign(issuer, names, now))


def read(secret: Manifest) -> Material | None:
    """Returns what a Secret holds, whether it is any good or not; none where something is missing."""
    data = secret.get("data") or {}
    try:
        ca, ca_key, serving, key = (base64.b64decode(data.get(name) or "", validate=True) for name in KEYS)
    except (binascii.Error, ValueError):
        return None
    return Material(Pair(ca, ca_key), Pair(serving, key)) if ca and ca_key and serving and key else None


def data_of(material: Material) -> dict[str, str]:
    """Returns the `data` of a Secret."""
    values = material.authority.certificate, material.authority.key, material.serving.certificate, material.serving.key
    return {name: base64.b64encode(value).decode() for name, value in zip(KEYS, values, strict=True)}


def _authority_fault(issuer: x509.Certificate, now: datetime) -> str:
    try:
        may_sign = issuer.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, ValueError):
        may_sign = False
    if not may_sign:
        return "its authority may sign nothing"
    return f"its authority ends on {issuer.not_valid_after_utc:%Y-%m-%d}" if _is_old(issuer, now) else ""


def _is_current(one: x509.Certificate, now: datetime) -> bool:
    return one.not_valid_before_utc <= now < one.not_valid_after_utc


def _is_old(one: x509.Certificate, now: datetime) -> bool:
    """Tells whether a certificate is in the last part of its life, over, or not yet begun."""
    life = one.not_valid_after_utc - one.not_valid_before_utc
    return not _is_current(one, now) or now >= one.not_valid_before_utc + RENEWED_AT * life
