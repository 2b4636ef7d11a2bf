"""Records the fields of a set that cannot change once it exists, so that a change behind admission's back is found (decisions §10).

The record is a part of the set as it is written, without defaults, in the ControllerRevision of its pod templates. It says nothing about
what is forbidden: the rules on `update` do. They get as the old set the present one with the recorded fields put back, so that neither an
allowed edit nor a field that an older release has not recorded looks like a change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.recorded_templates import Revision
from grove_compiler.model.spec.mnnvl_layers import PREFIX
from grove_compiler.record import record
from kube_objects.manifest import mapping, maps

KEY = "immutable"
"""The field of a revision's data that holds the record."""


@record
class Named:
    """The items of a list, which keep their identity by their `name`."""

    fields: Mapping[str, Any]


@record
class Prefixed:
    """The entries of a map whose keys have this prefix."""

    prefix: str


Fields = Mapping[str, Any]
"""Field names with the fields below them: further `Fields`, `Named`, `Prefixed`, or None for the whole field."""

MNNVL: Fields = {"annotations": Prefixed(PREFIX)}
SHARED: Fields = {"resourceSharing": None, "topologyConstraint": None}
CLIQUE: Fields = {"roleName": None, "minAvailable": None, "startsAfter": None, "podSpec": {"schedulerName": None}}
GROUP: Fields = {"cliqueNames": None, "minAvailable": None, **SHARED, **MNNVL}
TEMPLATE: Fields = {"cliqueStartupType": None, "computeDomainConfig": None, "resourceClaimTemplates": None, **SHARED}
SERVING: Fields = {
    "metadata": MNNVL,
    "spec": {
        "workloadType": None,
        "template": {**TEMPLATE, "cliques": Named({"spec": CLIQUE, **SHARED, **MNNVL}), "podCliqueScalingGroups": Named(GROUP)},
    },
}
TRAINING: Fields = {
    "metadata": MNNVL,
    "spec": {
        "workloadType": None,
        "replicas": None,
        "template": {
            **TEMPLATE,
            "priorityClassName": None,
            "cliques": Named({"spec": {**CLIQUE, "replicas": None, "podSpec": None}, "labels": None, "annotations": None, **SHARED}),
            "podCliqueScalingGroups": Named({**GROUP, "replicas": None}),
        },
    },
}


def immutable_fields(manifest: Manifest) -> Manifest:
    """Returns the part of a set that cannot change, as it is written."""
    found: Manifest = _part(manifest, _fields_of(manifest))
    return found


def recorded_fields(revisions: list[Revision]) -> Manifest | None:
    """Returns the newest record; None for a set that has none, as one of an older release."""
    records = (revision.data.get(KEY) for revision in reversed(revisions))
    return next((record for record in records if isinstance(record, dict)), None)


def before_the_change(manifest: Manifest, recorded: Manifest) -> Manifest:
    """Returns a set with the recorded fields put back."""
    old: Manifest = _put_back(manifest, recorded, _fields_of(recorded))
    return old


def with_recorded_metadata(manifest: Manifest, recorded: Manifest) -> Manifest:
    """Returns a set with the recorded part of its metadata put back."""
    metadata: Manifest = _put_back(manifest["metadata"], recorded.get("metadata") or {}, MNNVL)
    return {**manifest, "metadata": metadata}


def _fields_of(manifest: Manifest) -> Fields:
    spec = manifest.get("spec")
    return TRAINING if isinstance(spec, dict) and spec.get("workloadType") == "Training" else SERVING


def _part(value: Any, fields: Any) -> Any:
    if isinstance(fields, Named):
        return [{"name": one.get("name"), **_part(one, fields.fields)} for one in maps(value)]
    if isinstance(fields, Prefixed):
        return {key: text for key, text in mapping(value).items() if key.startswith(fields.prefix)}
    if fields is None:
        return value
    parts = mapping(value)
    return {name: _part(parts[name], below) for name, below in fields.items() if parts.get(name) is not None}


def _put_back(now: Any, then: Any, fields: Any) -> Any:
    """Returns `now` with what was recorded in `then`, and without what was not there. What nobody can have recorded changes nothing."""
    if fields is None:
        return then
    if isinstance(fields, Named):
        if not isinstance(then, list) or not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in then):
            return now
        present = {one["name"]: one for one in maps(now) if isinstance(one.get("name"), str)}
        return [_put_back(present.get(one.get("name"), one), one, fields.fields) for one in then]
    if not isinstance(then, dict):
        return now
    if not isinstance(now, dict):
        return then
    if isinstance(fields, Prefixed):
        return {**{key: text for key, text in now.items() if not key.startswith(fields.prefix)}, **then}
    old = {name: value for name, value in now.items() if name not in fields}
    for name, below in fields.items():
        if name in then:
            old[name] = _put_back(now.get(name), then[name], below)
        elif below is not None and name in now:
            old[name] = _put_back(now[name], [] if isinstance(below, Named) else {}, below)
    return old
