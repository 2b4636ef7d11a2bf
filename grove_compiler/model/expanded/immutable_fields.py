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


def as_it_was(manifest: Manifest, revision: Revision) -> Manifest | None:
    """Returns a set with the recorded fields and the pod templates of its newest revision put back, and what else may change as it is now.

    A clique or scaling group that is no longer there has no autoscaler, since nobody has recorded what was declared: that stays as it is,
    and so do the replicas of live objects, which count before what is declared. None for a revision of a release that recorded less.
    """
    recorded = revision.data.get(KEY)
    old = before_the_change(manifest, recorded) if isinstance(recorded, dict) else {}
    template = (old.get("spec") or {}).get("template")
    if not template:
        return None
    grouped = {name for group in template.get("podCliqueScalingGroups") or () for name in group.get("cliqueNames") or ()}
    cliques = [_with_recorded_pods(clique, revision, clique["name"] in grouped) for clique in template["cliques"]]
    template = {**template, "priorityClassName": revision.priority_class or None, "cliques": cliques}
    return {**old, "spec": {**old["spec"], "template": _without_none(template)}}


def _with_recorded_pods(clique: Manifest, revision: Revision, is_grouped: bool) -> Manifest:
    """Returns a clique with its recorded pod template, and with its number of pods where nobody else has that.

    In a scaling group pods are replaced for another number.
    """
    parts = revision.template(clique["name"])
    if parts is None:
        return clique
    size = {"replicas": revision.replicas(clique["name"])} if is_grouped or "replicas" not in clique["spec"] else {}
    spec = {**clique["spec"], **size, "podSpec": parts["podSpec"]}
    return _without_none({**clique, "labels": parts.get("labels"), "annotations": parts.get("annotations"), "spec": _without_none(spec)})


def _without_none(fields: Manifest) -> Manifest:
    return {key: value for key, value in fields.items() if value is not None}


def _fields_of(manifest: Manifest) -> Fields:
    spec = manifest.get("spec")
    return TRAINING if isinstance(spec, dict) and spec.get("workloadType") == "Training" else SERVING


def _part(value: Any, fields: Any) -> Any:
    if isinstance(fields, Named):
        return [{"name": one.get("name"), **_part(one, fields.fields)} for one in value]
    if isinstance(fields, Prefixed):
        return {key: text for key, text in value.items() if key.startswith(fields.prefix)}
    if fields is None:
        return value
    return {name: _part(value[name], below) for name, below in fields.items() if value.get(name) is not None}


def _put_back(now: Any, then: Any, fields: Any) -> Any:
    """Returns `now` with what was recorded in `then`, and without what was not there. What nobody can have recorded changes nothing."""
    if fields is None:
        return then
    if isinstance(fields, Named):
        if not isinstance(then, list) or not all(isinstance(one, dict) for one in then):
            return now
        present = {one.get("name"): one for one in now or ()}
        return [_put_back(present.get(one.get("name"), one), one, fields.fields) for one in then]
    if not isinstance(then, dict):
        return now
    if now is None:
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
