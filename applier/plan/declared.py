"""Leaves out optional fields that the server's schemas do not declare: an apply with one of them is rejected as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from applier.decision import Schemas, Type
from applier.desired import Desired, Graph
from applier.ref import Kind, Manifest
from kube_objects import json_pointer


def as_declared(graph: Graph, schemas: Schemas) -> Graph:
    """Returns the graph without the optional fields (`Policy.optional`) that the schemas of their kinds lack; else the same graph.

    Fields of kinds without a schema are kept.
    """
    optional = {ref: desired for ref, desired in graph.objects.items() if desired.policy.optional}
    lean = {ref: found for ref, desired in optional.items() if (found := _lean(desired, schemas)) is not desired}
    if not lean:
        return graph
    objects = [lean.get(ref, desired) for ref, desired in graph.objects.items()]
    return Graph(
        objects,
        statuses=graph.statuses,
        events=graph.events,
        deletions=graph.deletions,
        requeue_after=graph.requeue_after,
    )


def _lean(desired: Desired, schemas: Schemas) -> Desired:
    schema, manifest = schemas.get(Kind.of(desired.manifest)), desired.manifest
    for pointer in desired.policy.optional:
        if schema is not None:
            manifest = _without(manifest, schema, json_pointer.split(pointer))
    return desired if manifest is desired.manifest else replace(desired, manifest=manifest)


def _without(value: Manifest, schema: Type, keys: Sequence[str]) -> Manifest:
    """Returns a map without the field that the keys lead to, if its type does not declare that; the same map if it does."""
    if not keys or keys[0] not in value:
        return value
    name, *below = keys
    if (member := schema.member(name)) is None:
        return {key: kept for key, kept in value.items() if key != name}
    if not below or not isinstance(value[name], dict):
        return value
    inner = _without(value[name], member, below)
    return value if inner is value[name] else {**value, name: inner}
