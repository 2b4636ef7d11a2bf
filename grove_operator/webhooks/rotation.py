"""Decides by a Secret, the time and the server's names which certificates have to be renewed. Pure."""

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
"""The keys of the shipped operator's Secret, and of the type kubernetes.io/tls."""
RENEWED_AT = 2 / 3
"""The fraction of its lifetime after which a certificate is renewed: early enough for an operator that is down for a week."""

Action = Literal["keep", "sign", "replace"]
"""Both certificates stay; the authority signs another serving certificate; both are replaced."""


@record
class Rotation:
    """An action and its reason; `material` are the certificates of the Secret, if they are usable until then."""

    action: Action
    reason: str = ""
    material: Material | None = None


def decide(secret: Manifest | None, now: datetime, names: Sequence[str]) -> Rotation:
    """Returns the action for the certificates of a Secret, of a server with these DNS names."""
    if secret is None:
        return Rotation("replace", "there is no Secret")
    held = read(secret)
    if held is None:
        return Rotation("replace", f"the Secret lacks {' or '.join(KEYS)}")
    for word, pair in (("authority", held.authority), ("certificate", held.serving)):
        if fault := authority.fault_of(pair):
            return Rotation("replace" if word == "authority" else "sign", f"its {word} {fault}")
    issuer, shown = held.authority.x509, held.serving.x509
    if fault := _authority_fault(issuer, now):
        return Rotation("replace", fault, held if _is_current(shown, now) and authority.is_signed_by(shown, issuer) else None)
    if not authority.is_signed_by(shown, issuer):
        return Rotation("sign", "its certificate is not signed by its authority")
    if not set(names) <= authority.names_of(shown):
        return Rotation("sign", "the server has a different name", held if _is_current(shown, now) else None)
    if _is_old(shown, now):
        return Rotation("sign", f"its certificate ends on {shown.not_valid_after_utc:%Y-%m-%d}", held if _is_current(shown, now) else None)
    return Rotation("keep", "", held)


def make(decision: Rotation, secret: Manifest | None, now: datetime, names: Sequence[str]) -> Material:
    """Creates the certificates for a decision to sign or to replace."""
    held = read(secret) if secret is not None and decision.action == "sign" else None
    issuer = held.authority if held is not None else authority.make_authority(now)
    return Material(issuer, authority.sign(issuer, names, now))


def read(secret: Manifest) -> Material | None:
    """Returns the certificates of a Secret without validation; none if a key is missing."""
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
        return "its authority must not sign certificates"
    return f"its authority ends on {issuer.not_valid_after_utc:%Y-%m-%d}" if _is_old(issuer, now) else ""


def _is_current(certificate: x509.Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc


def _is_old(certificate: x509.Certificate, now: datetime) -> bool:
    """Returns whether a certificate is due for renewal, expired, or not valid yet."""
    lifetime = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    return not _is_current(certificate, now) or now >= certificate.not_valid_before_utc + RENEWED_AT * lifetime
