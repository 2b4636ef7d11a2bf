"""Whether two values mean the same to Kubernetes, and the paths at which they do not: what a rolling update rests on, and `grove impact`.

The hash of a pod template is no such comparison: `1Gi` and `1073741824` hash differently, an empty list and none at all too, and every
version of Kubernetes' types hashes the same template anew. Rolled by hashes, pods would restart for nothing.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from grove_compiler.graph.field_path import ABSENT, FieldPath
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.duration import DurationError
from grove_compiler.kube.duration import parse as parse_duration
from grove_compiler.kube.go_dump import FIELDS
from grove_compiler.kube.quantity import QuantityError
from grove_compiler.kube.quantity import parse as parse_quantity
from grove_compiler.kube.structure import Schema
from grove_compiler.record import record

ANYTHING: Schema = {"kind": "any"}
POD_TEMPLATE: Schema = {"ref": "core/v1.PodTemplateSpec"}

SERVER_DEFAULTS: dict[str, dict[str, Any]] = {
    "core/v1.PodSpec": {"dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "securityContext": {}},
    "core/v1.Container": {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "securityContext": {}},
    "core/v1.Probe": {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    "core/v1.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core/v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core/v1.SecretVolumeSource": {"defaultMode": 420},
    "core/v1.ConfigMapVolumeSource": {"defaultMode": 420},
    "core/v1.DownwardAPIVolumeSource": {"defaultMode": 420},
    "core/v1.ProjectedVolumeSource": {"defaultMode": 420},
    "core/v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core/v1.HostPathVolumeSource": {"type": ""},
    "core/v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
}
"""What an API server fills in when it makes a pod, beyond the defaults of the schemas (pkg/apis/core/v1/defaults.go).

Three are left out on purpose: scheduler, restart policy and grace period of a set's pods are filled in by rules of ours, not by the server.
"""
ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0, "resource.Quantity": "0"}


@record
class Change:
    """A field and its values; `ABSENT` where there is none."""

    path: FieldPath
    before: Any
    after: Any


def object_differences(before: Manifest, after: Manifest) -> Iterator[Change]:
    """Yields the fields in which two manifests of one kind differ in meaning; of unknown kinds every field counts as it is written."""
    if _are_written_alike(before, after):
        return iter(())
    return differences(before, after, KINDS.get((str(after.get("apiVersion")), str(after.get("kind"))), ANYTHING))


def pod_template_differences(before: Manifest, after: Manifest) -> list[Change]:
    """Returns where two pod templates (`{"metadata": …, "spec": …}`) would make different pods; empty when nothing has to roll."""
    return [] if _are_written_alike(before, after) else list(differences(before, after, POD_TEMPLATE))


def _are_written_alike(before: Manifest, after: Manifest) -> bool:
    """Whether two manifests are the same to the letter, as nearly all are that an edit leaves: that is quicker than to compare meanings."""
    try:
        # Not by `==`, to which True equals 1. This version writes equal values in equal bytes.
        return marshal.dumps(before, 2) == marshal.dumps(after, 2)
    except ValueError:  # it holds what is in no manifest, such as a value whose readers `explain` follows
        return False


def differences(before: Any, after: Any, schema: Schema, path: FieldPath = ()) -> Iterator[Change]:
    """Yields the deepest fields that differ in meaning, in the order of `before`, then of `after`.

    The order of keys, spellings of quantities and durations, null and what the server fills in make no difference; the order of lists does.
    Items of lists are told by their position, and a list of another length is one change.
    """
    if before is after:
        return
    name, schema = _resolved(schema)
    if isinstance(before, dict) and isinstance(after, dict):
        one, other = _derived(name, before, after)
        for key in {**one, **other}:
            field = _field(schema, key)
            left, right = (_or_default(name, key, field, value.get(key, ABSENT)) for value in (one, other))
            yield from differences(left, right, field, (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from differences(left, right, schema.get("items", ANYTHING), (*path, index))
    elif _meaning(before, schema["kind"]) != _meaning(after, schema["kind"]):
        yield Change(path, before, after)


def _meaning(value: Any, kind: str) -> Any:
    """Returns a form that is equal for values that mean the same; None for what means as much as nothing at all."""
    # Behind a pointer `{}` is something: `emptyDir: {}`, or a selector that takes all. A list or map without entries is none to Go.
    if value is ABSENT or value is None or value == [] or (value == {} and kind != "object"):
        return None
    try:
        if kind == "quantity":
            quantity = parse_quantity(value)
            return Fraction(quantity.number) * Fraction(10) ** quantity.exponent
        if kind == "duration":
            return parse_duration(value)
    except (QuantityError, DurationError, TypeError):
        pass  # what cannot be read means only itself
    return (value,) if isinstance(value, bool) else value  # to Python, True equals 1


def _resolved(schema: Schema) -> tuple[str, Schema]:
    """Returns the name of a schema, empty for one without, and what it refers to."""
    name = ""
    while "ref" in schema:
        name = schema["ref"]
        schema = DEFINITIONS[name]
    return name, schema


def _field(schema: Schema, key: str) -> Schema:
    known: Schema = schema.get("fields", {}).get(key) or schema.get("values") or ANYTHING
    return known


def _or_default(struct: str, key: str, field: Schema, value: Any) -> Any:
    """Returns a field's value, or what the server takes for none. Go tells a zero from nothing only behind a pointer."""
    zeros = _zeros_of(struct)
    if value is ABSENT or value is None or (key in zeros and value == zeros[key]):
        return SERVER_DEFAULTS.get(struct, {}).get(key, field.get("default", zeros.get(key, ABSENT)))
    return value


@cache
def _zeros_of(struct: str) -> dict[str, Any]:
    """Returns the zero values of the fields of a Go struct that are no pointers, lists or maps, by their JSON names."""
    zeros: dict[str, Any] = {}
    for text in FIELDS.get(struct.removeprefix("core/"), "").split("; ") if struct.startswith("core/") else ():
        name, _, below = text.split(" ") if text else ("", "", "")
        if name == "-":
            zeros |= _zeros_of(f"core/{below}")
        elif below in ZEROS or below in FIELDS:
            zeros[name] = ZEROS.get(below, {})
    return zeros


def _derived(struct: str, before: Manifest, after: Manifest) -> tuple[Manifest, Manifest]:
    """Returns both values with what the server derives from their other fields, as far as one of them writes it out."""
    if struct == "core/v1.Container" and before.get("imagePullPolicy") != after.get("imagePullPolicy"):
        return _with_pull_policy(before), _with_pull_policy(after)
    if struct == "core/v1.ResourceRequirements":
        names = {**_requests(before), **_requests(after)}
        return _with_requests(before, names), _with_requests(after, names)
    return before, after


def _with_pull_policy(container: Manifest) -> Manifest:
    """A tag that may move is pulled each time."""
    image = str(container.get("image")).rpartition("/")[2]
    latest = "@" not in image and image.partition(":")[2] in ("", "latest")
    return {**container, "imagePullPolicy": container.get("imagePullPolicy") or ("Always" if latest else "IfNotPresent")}


def _with_requests(resources: Manifest, names: Iterable[str]) -> Manifest:
    """A limit stands in for a request that is not there."""
    limits = resources.get("limits")
    known = {**(limits if isinstance(limits, dict) else {}), **_requests(resources)}
    return {**resources, "requests": {name: known[name] for name in names if name in known}}


def _requests(resources: Manifest) -> Manifest:
    requests = resources.get("requests")
    return requests if isinstance(requests, dict) else {}
