"""Prepares the intent, the part of a manifest that is sent, and hides the values of Secrets.

Two kinds of fields are left out. Fields that only the server sets, which `kubectl get -o yaml` leaves in a manifest; and yielded fields
(`yields`), which belong to another manager as soon as there is one. A yielded field is sent on creation. Once another manager owns it, it
is dropped from the intent, which gives up our ownership and keeps the value. While we are its only owner, dropping it would make the server
remove it (and default a Deployment's replicas to 1), so its live value is sent again. Without an owner it is not claimed.
Wherever an intent is shown or compared, values of Secrets are salted hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from applier.decision.fields import path_of, union
from applier.decision.managers import Identity, Managers, apply_identity, owners_among, owns
from applier.decision.schema import Type
from applier.decision.values import decoded, equal, equal_in_form, step_at, value_below
from applier.outcome import ABSENT, FieldChange
from applier.ref import Manifest
from kube_objects import json_pointer
from kube_objects.manifest import LAST_APPLIED

_MARK = "sha256:"


@cache
def _salt() -> bytes:
    """Returns the salt of this process, so that hashes are useless outside of it and cannot be looked up in precomputed tables."""
    import secrets  # slower to import than this whole package

    return secrets.token_bytes(16)


def is_secret(manifest: Manifest) -> bool:
    """Reports whether an object is a Secret of the core group."""
    return manifest.get("kind") == "Secret" and manifest.get("apiVersion") == "v1"


def hide_secrets(manifest: Manifest) -> Manifest:
    """Replaces the values of a Secret with hashes, after `stringData` is folded into `data`. Returns any other object as is.

    Values that are hidden already stay the same.
    """
    if not is_secret(manifest):
        return manifest
    manifest = fold_string_data(manifest)
    for name in ("data", "stringData"):
        value = manifest.get(name)
        hidden = {key: _hidden(one) for key, one in value.items()} if isinstance(value, dict) else _hidden(value)
        if hidden != value:
            manifest = {**manifest, name: hidden}
    return _without_last_applied(manifest)


def with_folded_owners(managers: Managers, ours: Identity) -> Managers:
    """Returns the managers of a Secret with what others own of `stringData` as the `data` that the server stored it in.

    The server keeps `stringData` in managedFields, so it reports no conflict with a manager that applies `data`, and would overwrite the
    values silently. Our own entry is left alone: since our intent has the values in `data`, giving up `stringData` removes nothing.
    """
    result = dict(managers)
    for identity, entry in managers.items():
        texts = entry.fields.get("f:stringData")
        if identity != ours and texts is not None:
            rest = {step: node for step, node in entry.fields.items() if step != "f:stringData"}
            result[identity] = entry._replace(fields=union(rest, {"f:data": texts}))
    return result


def revealed(intent: Manifest, manifest: Manifest) -> Manifest:
    """Restores the values of a hidden Secret from the manifest it was made from; returns an object of any other kind as is."""
    if not is_secret(intent):
        return intent
    plain = fold_string_data(manifest)
    parts = {name: (intent[name], plain[name]) for name in ("data", "stringData") if name in intent}
    values: Manifest = {name: {key: full[key] for key in some} if isinstance(some, dict) else full for name, (some, full) in parts.items()}
    return {**intent, **values}


def is_hidden(value: Any) -> bool:
    """Reports whether a value is the hash of a hidden one, which is never valid Base64."""
    return isinstance(value, str) and value.startswith(_MARK)


def _hidden(value: Any) -> Any:
    # That a value is empty is no secret. It must stay null or "", since the server reports a conflict between the two.
    if not value or is_hidden(value):
        return value
    try:
        plain = decoded(value)
    except ValueError:
        plain = b"no base64 " + str(value).encode()
    return _MARK + hashlib.sha256(_salt() + plain).hexdigest()


def _without_last_applied(manifest: Manifest) -> Manifest:
    """Hides kubectl's last-applied annotation, which repeats the values in clear text."""
    metadata = manifest.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    text = annotations.get(LAST_APPLIED)
    if not text or is_hidden(text):
        return manifest
    hidden = _MARK + hashlib.sha256(_salt() + str(text).encode()).hexdigest()
    return {**manifest, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: hidden}}}


def fold_string_data(manifest: Manifest) -> Manifest:
    """Folds the `stringData` of a Secret into `data`, as the server stores it, so that we own the fields that are stored.

    Null becomes an empty string, as in Go. A `stringData` that is not a map of strings is left for the server to reject.
    """
    data, texts = manifest.get("data") or {}, manifest.get("stringData", {}) or {}
    if "stringData" not in manifest or not isinstance(data, dict) or not isinstance(texts, dict):
        return manifest
    if not all(text is None or isinstance(text, str) for text in texts.values()):
        return manifest
    data = {**data, **{key: base64.b64encode((text or "").encode()).decode() for key, text in texts.items()}}
    rest = {key: value for key, value in manifest.items() if key != "stringData"}
    return {**rest, "data": data} if data else rest


_SET_BY_SERVER = frozenset(("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid", "generation",
                            "managedFields", "resourceVersion", "clusterName"))  # fmt: skip


def prepared(manifest: Manifest, schema: Type | None = None) -> Manifest:
    """Returns a manifest without fields that only the server sets; the same object if it has none.

    Also removes the status if the schema has it as a subresource, and folds `stringData` of Secrets into `data`.
    """
    if is_secret(manifest):
        manifest = fold_string_data(manifest)
    if schema is not None and schema.status and "status" in manifest:
        manifest = {key: value for key, value in manifest.items() if key != "status"}
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict):
        return manifest
    annotations = metadata.get("annotations") or {}
    copied = LAST_APPLIED in annotations
    if not copied and _SET_BY_SERVER.isdisjoint(metadata):
        return manifest
    kept = {key: value for key, value in metadata.items() if key not in _SET_BY_SERVER}
    if copied:
        kept["annotations"] = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
        if not kept["annotations"]:
            del kept["annotations"]
    return {**manifest, "metadata": kept}


class Yielded(NamedTuple):
    """Holds an intent without yielded fields, and the yielded fields whose live values differ from the manifest's."""

    intent: Manifest
    differing: list[FieldChange]


class _Place(NamedTuple):
    """Represents a place in an intent: the keys and the steps of FieldsV1 that lead to it, its type, its value and the live value."""

    keys: tuple[Any, ...]
    steps: tuple[str, ...]
    type: Type
    value: Any
    live: Any


def yield_fields(intent: Manifest, live: Manifest, schema: Type, managers: Managers, pointers: Sequence[str], *, manager: str) -> Yielded:
    """Removes yielded fields from an intent, given the live object and its managers. Pointers (RFC 6901) that lead nowhere are ignored."""
    differing: list[FieldChange] = []
    ours = apply_identity(manager)
    mine = managers.get(ours)
    for place in _outermost(place for place in (_place(intent, live, schema, pointer) for pointer in pointers) if place is not None):
        owners = tuple(owners_among(managers, place.steps, besides=ours))
        if not equal(place.live, place.value) and not equal_in_form(place.type.form, place.live, place.value):
            differing.append(FieldChange(path_of(place.steps), place.live, place.value, owners))
        is_sole_owner = not owners and mine is not None and owns(mine.fields, place.steps)
        if not is_sole_owner:
            intent = _replaced(intent, place.keys, ABSENT)
        elif place.live is not ABSENT and not _contains_hidden(place.live):  # a hash must never be sent as a value
            intent = _replaced(intent, place.keys, place.live)
    return Yielded(intent, differing[::-1])


def _contains_hidden(value: Any) -> bool:
    return any(map(_contains_hidden, value.values())) if isinstance(value, dict) else is_hidden(value)


def _outermost(places: Iterable[_Place]) -> list[_Place]:
    """Returns each place once and none inside another, last first, so that list positions stay valid while items are removed."""
    outermost: list[_Place] = []
    for place in sorted(places, key=lambda place: place.keys):
        if not outermost or place.keys[: len(outermost[-1].keys)] != outermost[-1].keys:
            outermost.append(place)
    return outermost[::-1]


def _place(intent: Manifest, live: Manifest, schema: Type, pointer: str) -> _Place | None:
    """Resolves a JSON pointer in an intent; None if the intent has no such place."""
    value: Any = intent
    live_value: Any = live
    keys: list[Any] = []
    steps: list[str] = []
    for name in json_pointer.split(pointer):
        key: Any = int(name) if isinstance(value, list) and name.isdigit() else name
        if not (key in value if isinstance(value, dict) else isinstance(key, int) and key < len(value)):
            return None
        value = value[key]
        step = step_at(value, key, schema) if isinstance(key, int) else f"f:{key}"
        live_value = value_below(live_value, step, schema)
        below = schema.below(step)
        if below is None:
            return None
        keys.append(key)
        steps.append(step)
        schema = below
    return _Place(tuple(keys), tuple(steps), schema, value, live_value) if keys else None


def _replaced(value: Any, keys: tuple[Any, ...], new: Any) -> Any:
    """Returns a copy with one place replaced or, if `new` is ABSENT, removed, together with maps and lists that this empties."""
    if not keys:
        return new
    key = keys[0]
    inner = _replaced(value[key], keys[1:], new)
    if isinstance(value, list):
        items = [*value[:key], *([] if inner is ABSENT else [inner]), *value[key + 1 :]]
        return items or ABSENT
    members = {name: inner if name == key else member for name, member in value.items() if name != key or inner is not ABSENT}
    return members or ABSENT
