"""Secrets without their values: hashes stand for them, so that they can be compared but not read."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

from applier.decision.values import decoded
from applier.ref import Manifest

_MARK = "sha256:"


@cache
def _salt() -> bytes:
    """One for each process: hashes tell nothing outside of it, and values cannot be looked up in tables."""
    import secrets  # takes longer to import than all of this room

    return secrets.token_bytes(16)


def is_secret(manifest: Manifest) -> bool:
    """Whether an object is a Secret of the core."""
    return manifest.get("kind") == "Secret" and manifest.get("apiVersion") == "v1"


def hide_secrets(manifest: Manifest) -> Manifest:
    """A Secret with hashes for values and `stringData` folded in; one that is hidden already, and any other kind, as it is."""
    if not is_secret(manifest):
        return manifest
    manifest = folded(manifest)
    for name in ("data", "stringData"):
        value = manifest.get(name)
        hidden = {key: _hidden(one) for key, one in value.items()} if isinstance(value, dict) else _hidden(value)
        if hidden != value:
            manifest = {**manifest, name: hidden}
    return _without_last_applied(manifest)


def is_hidden(value: Any) -> bool:
    """Whether a value stands for a secret one. No base64 looks like this."""
    return isinstance(value, str) and value.startswith(_MARK)


def _hidden(value: Any) -> Any:
    if value is None or is_hidden(value):
        return value
    try:
        plain = decoded(value)
    except ValueError:
        plain = b"no base64 " + str(value).encode()
    return _MARK + hashlib.sha256(_salt() + plain).hexdigest()


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _without_last_applied(manifest: Manifest) -> Manifest:
    """kubectl's annotation repeats the values in the clear."""
    metadata = manifest.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    text = annotations.get(LAST_APPLIED)
    if not text or is_hidden(text):
        return manifest
    hidden = _MARK + hashlib.sha256(_salt() + str(text).encode()).hexdigest()
    return {**manifest, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: hidden}}}


def folded(manifest: Manifest) -> Manifest:
    """A Secret whose `stringData` has become `data`, as the server stores it, so that what we own is what is there.

    What is no map of texts is left for the server to refuse.
    """
    data, texts = manifest.get("data") or {}, manifest.get("stringData", {}) or {}
    if "stringData" not in manifest or not isinstance(data, dict) or not isinstance(texts, dict):
        return manifest
    if not all(isinstance(text, str) for text in texts.values()):
        return manifest
    data = {**data, **{key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}}
    rest = {key: value for key, value in manifest.items() if key != "stringData"}
    return {**rest, "data": data} if data else rest
