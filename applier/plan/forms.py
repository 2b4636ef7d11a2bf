"""Steps and desired objects as JSON values, and back. No value of a Secret is in any of them."""

from __future__ import annotations

from typing import Any

from applier.desired import Desired, Policy
from applier.outcome import ABSENT, Action, Conflict, FieldChange, ItemKey, Owner, Path, Step
from applier.ref import Manifest, Ref

SECRET = ("", "Secret")
VALUES = ("data", "stringData")
HIDDEN = "hidden"
"""Stands where a Secret had a value."""

Json = dict[str, Any]


def without_values(manifest: Manifest) -> Manifest:
    """A Secret with its keys and without its values; any other object as it is."""
    if Ref.of(manifest)[:2] != SECRET:
        return manifest
    return {**manifest, **{part: dict.fromkeys(manifest[part], HIDDEN) for part in VALUES if manifest.get(part)}}


def values_of(manifest: Manifest) -> Json:
    """What `without_values` takes away."""
    return {part: manifest[part] for part in VALUES if manifest.get(part)} if Ref.of(manifest)[:2] == SECRET else {}


def desired_form(desired: Desired) -> Json:
    """A desired object as JSON, without values of Secrets."""
    policy = desired.policy
    return {
        "manifest": without_values(desired.manifest),
        "owner": desired.owner,
        "after": list(desired.after),
        "source": desired.source,
        "policy": {name: getattr(policy, name) for name in Policy.__slots__},
    }


def read_desired(form: Json) -> Desired:
    """The inverse of `desired_form`."""
    policy = form["policy"]
    return Desired(
        form["manifest"],
        owner=Ref(*form["owner"]) if form["owner"] else None,
        after=[Ref(*ref) for ref in form["after"]],
        policy=Policy(**{**policy, "yields": tuple(policy["yields"]), "force": tuple(policy["force"])}),
        source=form["source"],
    )


def step_form(step: Step) -> Json:
    """A step as JSON."""
    return {
        "ref": step.ref,
        "action": step.action.value,
        "reason": step.reason,
        "changes": [_change_form(change) for change in step.changes],
        "conflicts": [{"path": _path_form(conflict.path), "owner": conflict.owner} for conflict in step.conflicts],
        "uid": step.uid,
        "resourceVersion": step.resource_version,
        "wave": step.wave,
        "unsure": step.unsure,
    }


def read_step(form: Json) -> Step:
    """The inverse of `step_form`."""
    return Step(
        Ref(*form["ref"]),
        Action(form["action"]),
        form["reason"],
        [_read_change(change) for change in form["changes"]],
        [Conflict(_read_path(conflict["path"]), Owner(*conflict["owner"])) for conflict in form["conflicts"]],
        form["uid"],
        form["resourceVersion"],
        form["wave"],
        form["unsure"],
    )


def _change_form(change: FieldChange) -> Json:
    """A change; `old` or `new` is left out where there is no such field, since JSON's null is a value of its own."""
    values = {name: value for name, value in (("old", change.old), ("new", change.new)) if value is not ABSENT}
    return {"path": _path_form(change.path), "owners": list(change.owners), **values}


def _read_change(form: Json) -> FieldChange:
    owners = tuple(Owner(*owner) for owner in form["owners"])
    return FieldChange(_read_path(form["path"]), form.get("old", ABSENT), form.get("new", ABSENT), owners)


def _path_form(path: Path) -> list[Any]:
    return [{"item": [list(pair) for pair in part.fields]} if isinstance(part, ItemKey) else part for part in path]


def _read_path(form: list[Any]) -> Path:
    return tuple(ItemKey(tuple((name, value) for name, value in part["item"])) if isinstance(part, dict) else part for part in form)
