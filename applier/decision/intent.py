"""What of a manifest is sent, and what of it may be shown.

Sent is neither what `kubectl get -o yaml` leaves in a manifest and only the server sets, nor a field that belongs to whoever else sets it
(`yields`). On creation a yielded field is sent. Afterwards it is left alone: once another manager owns it, it is dropped from the intent,
which gives up our share without changing the value. While we are its only owner it cannot be dropped, for then the server would remove it
(and default a Deployment's replicas to 1), so the live value is sent again. One that nobody owns is not claimed.
Shown and compared, values of Secrets are salted hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from applier.decision.fields import path_of, union
from applier.decision.managers import LAST_APPLIED, Identity, Managers, applier_of, owners_among, owns
from applier.decision.schema import Type
from applier.decision.values import decoded, equal, same_form, step_at, value_below
from applier.outcome import ABSENT, FieldChange
from applier.ref import Manifest

_MARK = "sha256:"


@cache
def _salt() -> bytes:
    """Returns one for each process: hashes tell nothing outside of it, and values cannot be looked up in tables."""
    import secrets  # takes longer to import than all of this room

    return secrets.token_bytes(16)


def is_secret(manifest: Manifest) -> bool:
    """Tells whether an object is a Secret of the core."""
    return manifest.get("kind") == "Secret" and manifest.get("apiVersion") == "v1"


def hide_secrets(manifest: Manifest) -> Manifest:
    """Returns a Secret with hashes for values and `stringData` folded in; one that is hidden already, and any other kind, as it is."""
    if not is_secret(manifest):
        return manifest
    manifest = folded(manifest)
    for name in ("data", "stringData"):
        value = manifest.get(name)
        hidden = {key: _hidden(one) for key, one in value.items()} if isinstance(value, dict) else _hidden(value)
        if hidden != value:
            manifest = {**manifest, name: hidden}
    return _without_last_applied(manifest)


def as_stored(managers: Managers, ours: Identity) -> Managers:
    """Returns the managers of a Secret with the texts that others own as what became of them.

    The server goes on calling them `stringData`, and so sees no conflict with whoever sends `data`: it would be overwritten without a word.
    Our own stay as they are. We send `data` since, so that the server takes nothing away when they are given up.
    """
    folded = dict(managers)
    for identity, entry in managers.items():
        texts = entry.fields.get("f:stringData")
        if identity != ours and texts is not None:
            rest = {step: node for step, node in entry.fields.items() if step != "f:stringData"}
            folded[identity] = entry._replace(fields=union(rest, {"f:data": texts}))
    return folded


def revealed(intent: Manifest, manifest: Manifest) -> Manifest:
    """Returns a hidden Secret that was made from a manifest, with the manifest's values; any other kind as it is."""
    if not is_secret(intent):
        return intent
    plain = folded(manifest)
    parts = {name: (intent[name], plain[name]) for name in ("data", "stringData") if name in intent}
    values: Manifest = {name: {key: full[key] for key in some} if isinstance(some, dict) else full for name, (some, full) in parts.items()}
    return {**intent, **values}


def is_hidden(value: Any) -> bool:
    """Tells whether a value stands for a secret one. No base64 looks like this."""
    return isinstance(value, str) and value.startswith(_MARK)


def _hidden(value: Any) -> Any:
    # That nothing is there is no secret; and a server that stores null as an empty value sees a conflict between the two all the same.
    if not value or is_hidden(value):
        return value
    try:
        plain = decoded(value)
    except ValueError:
        plain = b"no base64 " + str(value).encode()
    return _MARK + hashlib.sha256(_salt() + plain).hexdigest()


def _without_last_applied(manifest: Manifest) -> Manifest:
    """Leaves out kubectl's annotation, which repeats the values in the clear."""
    metadata = manifest.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    text = annotations.get(LAST_APPLIED)
    if not text or is_hidden(text):
        return manifest
    hidden = _MARK + hashlib.sha256(_salt() + str(text).encode()).hexdigest()
    return {**manifest, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: hidden}}}


def folded(manifest: Manifest) -> Manifest:
    """Returns a Secret whose `stringData` has become `data`, as the server stores it, so that what we own is what is there.

    Null is an empty text to a server, which reads texts into Go's strings. What is no map of texts is left for it to refuse.
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
    """Returns the manifest to send; the same object when there is nothing to take out of it.

    Status is taken out where it is a subresource (which the schema knows), and `stringData` of Secrets is folded into `data`.
    """
    if is_secret(manifest):
        manifest = folded(manifest)
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
    """The intent without what is yielded, and the yielded fields whose live values are not the manifest's."""

    intent: Manifest
    differing: list[FieldChange]


class _Place(NamedTuple):
    """A place in an intent: the keys and the steps of FieldsV1 that lead there, its type, its value, and the live one."""

    keys: tuple[Any, ...]
    steps: tuple[str, ...]
    type: Type
    value: Any
    live: Any


def yield_fields(intent: Manifest, live: Manifest, type: Type, managers: Managers, pointers: Sequence[str], *, manager: str) -> Yielded:
    """Works out the intent for a live object. A pointer (RFC 6901) to nothing in the intent yields nothing."""
    differing: list[FieldChange] = []
    ours = applier_of(manager)
    mine = managers.get(ours)
    for place in _outermost(place for place in (_place(intent, live, type, pointer) for pointer in pointers) if place is not None):
        now = place.live
        owners = tuple(owners_among(managers, place.steps, besides=ours))
        if not equal(now, place.value) and not same_form(place.type.form, now, place.value):
            differing.append(FieldChange(path_of(place.steps), now, place.value, owners))
        alone = not owners and mine is not None and owns(mine.fields, place.steps)
        if not alone:
            intent = _replaced(intent, place.keys, ABSENT)
        elif now is not ABSENT and not _holds_hash(now):
            intent = _replaced(intent, place.keys, now)
    return Yielded(intent, differing[::-1])


def _holds_hash(value: Any) -> bool:
    return any(map(_holds_hash, value.values())) if isinstance(value, dict) else is_hidden(value)


def _outermost(places: Iterable[_Place]) -> list[_Place]:
    """Returns each place once and none inside another; the last first, so that positions in lists stay right while items go."""
    kept: list[_Place] = []
    for place in sorted(places, key=lambda place: place.keys):
        if not kept or place.keys[: len(kept[-1].keys)] != kept[-1].keys:
            kept.append(place)
    return kept[::-1]


def _place(intent: Manifest, live: Manifest, type: Type, pointer: str) -> _Place | None:
    """Returns where a pointer leads; None when the intent has nothing there."""
    value: Any = intent
    now: Any = live
    keys: list[Any] = []
    steps: list[str] = []
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        key: Any = int(name) if isinstance(value, list) and name.isdigit() else name
        if not (key in value if isinstance(value, dict) else isinstance(key, int) and key < len(value)):
            return None
        value = value[key]
        step = step_at(value, key, type) if isinstance(key, int) else f"f:{key}"
        now = value_below(now, step, type)
        below = type.below(step)
        if below is None:
            return None
        keys.append(key)
        steps.append(step)
        type = below
    return _Place(tuple(keys), tuple(steps), type, value, now) if keys else None


def _replaced(value: Any, keys: tuple[Any, ...], new: Any) -> Any:
    """Returns a copy with one place changed or, for ABSENT, gone; a map or list that this empties goes with it."""
    if not keys:
        return new
    key = keys[0]
    inner = _replaced(value[key], keys[1:], new)
    if isinstance(value, list):
        items = [*value[:key], *([] if inner is ABSENT else [inner]), *value[key + 1 :]]
        return items or ABSENT
    members = {name: inner if name == key else member for name, member in value.items() if name != key or inner is not ABSENT}
    return members or ABSENT
