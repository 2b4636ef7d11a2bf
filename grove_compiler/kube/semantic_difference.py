"""Finds where two values differ in meaning to Kubernetes; rolling updates and `grove impact` depend on it.

The pod-template hash does not compare meaning: `1Gi` and `1073741824` hash differently, an empty and an absent list too, and every version
of Kubernetes' types changes the hash of the same template. Rolled by hashes, pods would restart for nothing.
"""

from __future__ import annotations

import marshal
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from fractions import Fraction
from functools import cache, partial
from typing import Any

from grove_compiler.graph.field_path import ABSENT, FieldPath
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.duration import DurationError
from grove_compiler.kube.duration import parse as parse_duration
from grove_compiler.kube.go_dump import FIELDS
from grove_compiler.kube.pod_semantics import DEFAULTS, NOT_RESTARTED, PULLED, UNORDERED
from grove_compiler.kube.structure import Schema
from grove_compiler.record import record
from kube_objects.quantity import QuantityError
from kube_objects.quantity import parse as parse_quantity

ANYTHING: Schema = {"kind": "any"}
POD_TEMPLATE: Schema = {"ref": "core/v1.PodTemplateSpec"}

ITEM_KEYS = ("name", "mountPath", "devicePath", "containerPort", "key")
"""What tells the items of such a list apart, so that a changed one is compared with what it was."""
ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0, "resource.Quantity": "0"}


@record
class Change:
    """Represents a changed field with both values; `ABSENT` where it does not exist."""

    path: FieldPath
    before: Any
    after: Any


def object_differences(before: Manifest, after: Manifest) -> Iterator[Change]:
    """Yields the fields in which two manifests of one kind differ in meaning; fields of unknown kinds are compared literally."""
    if _are_written_alike(before, after):
        return iter(())
    return differences(before, after, KINDS.get((str(after.get("apiVersion")), str(after.get("kind"))), ANYTHING))


def pod_template_differences(before: Manifest, after: Manifest) -> list[Change]:
    """Returns where two pod templates (`{"metadata": …, "spec": …}`) would make different pods; empty when nothing has to roll."""
    return [] if _are_written_alike(before, after) else list(differences(before, after, POD_TEMPLATE))


def _are_written_alike(before: Manifest, after: Manifest) -> bool:
    """Reports whether two manifests are literally equal, as most are after an edit elsewhere; faster than comparing meanings."""
    try:
        # Not with `==`, for which True equals 1. Version 2 of marshal has no back references, so equal values give equal bytes.
        return marshal.dumps(before, 2) == marshal.dumps(after, 2)
    except ValueError:  # it holds a value that marshal does not know, such as one tracked by `explain`
        return False


def differences(before: Any, after: Any, schema: Schema, path: FieldPath = ()) -> Iterator[Change]:
    """Yields the deepest fields that differ in meaning, in the order of `before`, then of `after`.

    The order of keys, spellings of quantities and durations, nulls and server defaults make no difference; the order of lists does, but
    for the `UNORDERED` ones. List items are matched by position, and a list of another length is one change.
    """
    if before is after:
        return
    name, schema = _resolved(schema)
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = _derived(name, before, after)
        for key in {**old, **new}:
            field = _field(schema, key)
            left, right = (_or_default(name, key, field, value.get(key, ABSENT)) for value in (old, new))
            if key in UNORDERED.get(name, ()) and _may_be_reordered(left, right):
                right = _in_the_order_of(left, right, field.get("items", ANYTHING))
            yield from differences(left, right, field, (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from differences(left, right, schema.get("items", ANYTHING), (*path, index))
    elif _meaning(before, schema["kind"]) != _meaning(after, schema["kind"]):
        yield Change(path, before, after)


def _may_be_reordered(before: Any, after: Any) -> bool:
    """Reports whether two lists may have the same items in another order; variables that refer to others keep theirs."""
    if not isinstance(before, list) or not isinstance(after, list) or len(before) != len(after) or before == after:
        return False
    return not any(isinstance(item, dict) and "$(" in str(item.get("value", "")) for item in (*before, *after))


def _in_the_order_of(before: list[Any], after: list[Any], schema: Schema) -> list[Any]:
    """Returns the items of `after` so that each stands where the item of the same meaning does in `before`, or that of the same key."""
    found: list[Any] = [ABSENT] * len(before)
    rest = dict(enumerate(after))
    for key_of in (partial(_canonical, schema=schema), _item_key):
        places: dict[Hashable, deque[int]] = {}
        for place, item in rest.items():
            places.setdefault(key_of(item), deque()).append(place)
        for index, item in enumerate(before):
            if found[index] is ABSENT and (same := places.get(key_of(item))):
                found[index] = rest.pop(same.popleft())
    others = iter(rest.values())
    return [next(others) if item is ABSENT else item for item in found]


def _canonical(value: Any, schema: Schema) -> Hashable:
    """Returns a form that is equal for values without differences, so that a list of thousands is matched without comparing all pairs.

    Resources are taken as they are: no item of a list without order has requests that follow from limits.
    """
    name, schema = _resolved(schema)
    if name in PULLED and isinstance(value, dict):
        value = _with_pull_policy(name, value)
    if name in COMPLETED and isinstance(value, dict):
        value = COMPLETED[name](value)
    if isinstance(value, dict) and (value or schema["kind"] == "object"):
        fields = set()
        for key, item in value.items():
            field = _field(schema, key)
            form, default = (_canonical(_or_default(name, key, field, given), field) for given in (item, ABSENT))
            if isinstance(form, tuple) and key in UNORDERED.get(name, ()):
                form = frozenset(Counter(form).items())
            if form != default:
                fields.add((key, form))
        return frozenset(fields)
    if isinstance(value, list) and value:
        return tuple(_canonical(item, schema.get("items", ANYTHING)) for item in value)
    meaning: Hashable = _meaning(value, schema["kind"])
    return meaning


def _item_key(item: Any) -> Hashable:
    return _canonical(next((item[key] for key in ITEM_KEYS if key in item), None) if isinstance(item, dict) else item, ANYTHING)


def _meaning(value: Any, kind: str) -> Any:
    """Returns a form that is equal for values of the same meaning; None for values that mean the same as an absent one."""
    # An empty struct behind a pointer has a meaning: `emptyDir: {}`, or a selector of everything. An empty list or map has none in Go.
    if value is ABSENT or value is None or value == [] or (value == {} and kind != "object"):
        return None
    try:
        if kind == "quantity":
            quantity = parse_quantity(value)
            return Fraction(quantity.number) * Fraction(10) ** quantity.exponent
        if kind == "duration":
            return parse_duration(value)
    except (QuantityError, DurationError, TypeError):
        pass  # a malformed value is compared literally
    return (value,) if isinstance(value, bool) else value  # to Python, True equals 1


def _resolved(schema: Schema) -> tuple[str, Schema]:
    """Returns the name of a schema, empty for an inline one, and the schema that it refers to."""
    name = ""
    while "ref" in schema:
        name = schema["ref"]
        schema = DEFINITIONS[name]
    return name, schema


def _field(schema: Schema, key: str) -> Schema:
    known: Schema = schema.get("fields", {}).get(key) or schema.get("values") or ANYTHING
    return known


def _or_default(struct: str, key: str, field: Schema, value: Any) -> Any:
    """Returns a field's value, or the server's default for an absent one. Go distinguishes zero from absent only for pointers."""
    zeros = _zeros_of(struct)
    if value is ABSENT or value is None or (key in zeros and value == zeros[key]):
        return DEFAULTS.get(struct, {}).get(key, field.get("default", zeros.get(key, ABSENT)))
    return value


@cache
def _zeros_of(struct: str) -> dict[str, Any]:
    """Returns the zero values of a Go struct's fields except pointers, lists and maps, by JSON name."""
    zeros: dict[str, Any] = {}
    for text in FIELDS.get(struct.removeprefix("core/"), "").split("; ") if struct.startswith("core/") else ():
        name, _, below = text.split(" ") if text else ("", "", "")
        if name == "-":
            zeros |= _zeros_of(f"core/{below}")
        elif below in ZEROS or below in FIELDS:
            zeros[name] = ZEROS.get(below, {})
    return zeros


def _derived(struct: str, before: Manifest, after: Manifest) -> tuple[Manifest, Manifest]:
    """Returns both values with the fields that the server derives from other fields, as far as one of the values has them."""
    if struct in COMPLETED:
        before, after = COMPLETED[struct](before), COMPLETED[struct](after)
    if struct in PULLED and before.get(policy := PULLED[struct][1]) != after.get(policy):
        return _with_pull_policy(struct, before), _with_pull_policy(struct, after)
    if struct == "core/v1.ResourceRequirements":
        names = {**_requests(before), **_requests(after)}
        return _with_requests(before, names), _with_requests(after, names)
    return before, after


def _with_pull_policy(struct: str, value: Manifest) -> Manifest:
    """Returns a container or a volume with its pull policy, `Always` by default for a missing or `latest` tag."""
    image, policy = PULLED[struct]
    if value.get(policy):
        return value
    name = str(value.get(image)).rpartition("/")[2]
    latest = "@" not in name and name.partition(":")[2] in ("", "latest")
    return {**value, policy: "Always" if latest else "IfNotPresent"}


def _with_requests(resources: Manifest, names: Iterable[str]) -> Manifest:
    """Returns the resources with requests for these names; an absent request defaults to its limit."""
    limits = resources.get("limits")
    known = {**(limits if isinstance(limits, dict) else {}), **_requests(resources)}
    return {**resources, "requests": {name: known[name] for name in names if name in known}}


def _requests(resources: Manifest) -> Manifest:
    requests = resources.get("requests")
    return requests if isinstance(requests, dict) else {}


def _with_account_and_ports(pod: Manifest) -> Manifest:
    """Returns a pod's spec with its account under the name that is not deprecated, and with the ports that it takes of its host."""
    if account := pod.get("serviceAccount"):
        pod = {**pod, "serviceAccountName": pod.get("serviceAccountName") or account}
        del pod["serviceAccount"]
    if pod.get("hostNetwork") is not True:
        return pod
    lists = {key: pod[key] for key in ("containers", "initContainers") if isinstance(pod.get(key), list)}
    return {**pod, **{key: [_with_host_ports(one) for one in containers] for key, containers in lists.items()}}


def _with_host_ports(container: Any) -> Any:
    if not isinstance(container, dict) or not isinstance(ports := container.get("ports"), list):
        return container
    taken = [{**one, "hostPort": one.get("hostPort") or one.get("containerPort")} if isinstance(one, dict) else one for one in ports]
    return {**container, "ports": taken}


def _with_resize_policy(container: Manifest) -> Manifest:
    """Returns a container without the parts of its resize policy that mean the same as none."""
    if not isinstance(policy := container.get("resizePolicy"), list):
        return container
    kept = [one for one in policy if not isinstance(one, dict) or one.get("restartPolicy") != NOT_RESTARTED]
    return {**container, "resizePolicy": kept}


def _with_source(volume: Manifest) -> Manifest:
    """Returns a volume with its source: an empty folder where it has none."""
    return volume if any(value is not None for key, value in volume.items() if key != "name") else {**volume, "emptyDir": {}}


COMPLETED: dict[str, Callable[[Manifest], Manifest]] = {
    "core/v1.PodSpec": _with_account_and_ports,
    "core/v1.Container": _with_resize_policy,
    "core/v1.Volume": _with_source,
}
"""Structs whose fields depend on others, with what writes these out in one way."""
