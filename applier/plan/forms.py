"""Converts steps and desired objects to JSON values and back, without the values of Secrets."""

from __future__ import annotations

from typing import Any

from applier.desired import Desired, Policy
from applier.outcome import ABSENT, Action, Conflict, FieldChange, ItemKey, Owner, Path, Step
from applier.ref import Manifest, Ref

SECRET = ("", "Secret")
VALUES = ("data", "stringData")
HIDDEN = "hidden"
"""Replaces the values of Secrets."""

Json = dict[str, Any]


def without_values(manifest: Manifest) -> Manifest:
    """Returns a Secret with its keys and without its values; any other object unchanged."""
    if Ref.of(manifest)[:2] != SECRET:
        return manifest
    return {**manifest, **{part: dict.fromkeys(manifest[part], HIDDEN) for part in VALUES if manifest.get(part)}}


def values_of(manifest: Manifest) -> Json:
    """Returns the values that `without_values` removes."""
    return {part: manifest[part] for part in VALUES if manifest.get(part)} if Ref.of(manifest)[:2] == SECRET else {}


DESIRED = ("owner", "source")
STEP = ("ref", "action", "reason", "changes", "conflicts", "uid", "resource_version", "wave", "unsure")
"""The parts of a step that are saved: not its request, which is computed again from the live object at execution."""


def desired_form(desired: Desired) -> Json:
    """Returns a desired object as JSON, without values of Secrets."""
    policy = {name: getattr(desired.policy, name) for name in Policy.__slots__}
    named = {name: getattr(desired, name) for name in DESIRED}
    return {"manifest": without_values(desired.manifest), "policy": policy, **named, "after": list(desired.awaited)}


def read_desired(form: Json) -> Desired:
    """Reads the output of `desired_form`."""
    policy = form["policy"]
    return Desired(
        form["manifest"],
        owner=Ref(*form["owner"]) if form["owner"] else None,
        after=[Ref(*ref) for ref in form["after"]],
        policy=Policy(**{**policy, **{name: tuple(policy[name]) for name in ("yields", "force", "follows") if name in policy}}),
        source=form["source"],
    )


def step_form(step: Step) -> Json:
    """Returns a step as JSON, with named tuples as lists."""
    form = {name: getattr(step, name) for name in STEP}
    # A list with no item or one: every JSON value, null included, is a possible value of the field, so none can represent ABSENT.
    return {**form, "changes": [change._replace(old=_some(change.old), new=_some(change.new)) for change in step.changes]}


def read_step(form: Json) -> Step:
    """Reads the output of `step_form`."""
    changes = [
        FieldChange(_path(path), _value(old), _value(new), tuple(Owner(*owner) for owner in owners))
        for path, old, new, owners in form["changes"]
    ]
    conflicts = [Conflict(_path(path), Owner(*owner)) for path, owner in form["conflicts"]]
    typed: Json = {"ref": Ref(*form["ref"]), "action": Action(form["action"]), "changes": changes, "conflicts": conflicts}
    return Step(**{name: form[name] for name in STEP} | typed)


def _some(value: Any) -> list[Any]:
    return [] if value is ABSENT else [value]


def _value(some: list[Any]) -> Any:
    return some[0] if some else ABSENT


def _path(form: list[Any]) -> Path:
    """Restores a path, in which a list is the key of an item."""
    return tuple(ItemKey(tuple(map(tuple, part[0]))) if isinstance(part, list) else part for part in form)
