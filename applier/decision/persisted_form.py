"""Whether what is sent is what is stored: differences that survive the server's reading, filling in and writing.

The server compares values as they are sent, then reads them into its own types (or prunes and defaults custom objects) and writes only
what is different then. A difference that cannot be judged from here carries a doubt, never a guess.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from applier.decision.fields import OF_THE_SERVER
from applier.decision.schema import Type
from applier.decision.values import LIST, MAP, equal, is_empty, is_leaf, same_form, shape_of, steps_to
from applier.outcome import ABSENT
from applier.ref import Manifest

_DEFAULTS: dict[str, dict[str, Any]] = {
    "core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.v1.ResourceFieldSelector": {"divisor": "0"},
    "core.v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core.v1.PersistentVolumeClaim": {"apiVersion": "v1", "kind": "PersistentVolumeClaim"},
    "core.v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core.v1.PersistentVolumeClaimStatus": {"phase": "Pending"},
    "core.v1.EndpointPort": {"protocol": "TCP"},
    "discovery.v1.EndpointPort": {"name": "", "protocol": "TCP"},
    "networking.v1.NetworkPolicyPort": {"protocol": "TCP"},
    "admissionregistration.v1.RuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.NamedRuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.MatchResources": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}},
    "rbac.v1.Subject": {"apiGroup": "rbac.authorization.k8s.io"},
    "batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "resource.v1.ExactDeviceRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1.DeviceSubRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1beta2.ExactDeviceRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1beta2.DeviceSubRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1beta1.DeviceRequest": {"allocationMode": "ExactCount", "count": 1},
    "resource.v1beta1.DeviceSubRequest": {"allocationMode": "ExactCount", "count": 1},
}


def filled_in(definition: str, field: str) -> Any:
    """The default of a field of a definition of the OpenAPI document; None where there is none known."""
    return _DEFAULTS.get(definition.removeprefix("io.k8s.api."), {}).get(field)


_POD_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for name in ("not-ready", "unreachable")
]


def without_added(definition: str, steps: tuple[str, ...], stored: list[Any], sent: list[Any]) -> list[Any]:
    """A stored list without the items that admission adds to it whenever they are missing: a Pod's tolerations of lost nodes."""
    if definition != "io.k8s.api.core.v1.Pod" or steps != ("f:spec", "f:tolerations"):
        return stored
    return [item for item in stored if item in sent or item not in _POD_TOLERATIONS]


EMPTY = "empty values may be left out"
"""The doubt about an empty value that the live object lacks: nothing differs if we own this very field, for then the server left it out."""
BACK = "the server may fill it in again"
"""The doubt about a declared field that is taken out of an object of Go types: its default may come in its place."""
_FILLED = "the server may have filled it in"
_NULL = "null may stand for a default"
_IDENTITY = frozenset(("apiVersion", "kind"))
Steps = tuple[str, ...]


class Difference(NamedTuple):
    """One place that differs: its steps in FieldsV1, the stored and the sent value, and the doubt, empty where it is sure."""

    steps: Steps
    old: Any
    new: Any
    doubt: str = ""


def differences(live: Manifest, sent: Manifest, type: Type) -> list[Difference]:
    """All differences between a stored object and one that has been merged from it, but for what only the server sets."""
    walk = Walk(type.name)
    for name in live.keys() | sent.keys():
        below = type.member(name)
        if name in _IDENTITY or (name == "status" and type.status) or below is None:
            continue
        old, new = live.get(name, ABSENT), sent.get(name, ABSENT)
        if name == "metadata":
            old, new = _own_metadata(old), _own_metadata(new)
        walk.visit(old, new, below, (f"f:{name}",))
    vanished = [one for one in walk.vanished if may_come_back(one.steps, sent, type)]
    differing = [one._replace(doubt=BACK) if _may_be_filled(one, sent, type) else one for one in walk.differing]
    return sorted(differing + vanished, key=lambda one: one.steps)


def may_come_back(steps: Steps, sent: Any, type: Type) -> bool:
    """Whether the server may fill in again what `sent` no longer has: a declared field whose surroundings stay.

    Items of lists and keys of free maps are gone for good, and all that is in them.
    """
    value, at = sent, type
    for step in steps:
        if step.startswith("f:"):
            name = step[2:]
            if not isinstance(value, dict) or value.get(name) is None:
                return at.go and name in at.fields
            value = value[name]
        else:
            items = value if isinstance(value, list) and at.is_list else []
            value = dict(zip(steps_to(items, at), items, strict=True)).get(step, ABSENT)
            if value is ABSENT:
                return False
        below = at.below(step)
        if below is None:
            return False
        at = below
    return False


def _may_be_filled(one: Difference, sent: Manifest, type: Type) -> bool:
    return one.new is ABSENT and not one.doubt and may_come_back(one.steps, sent, type)


def stored_alike(stored: Any, sent: Any, type: Type) -> bool:
    """Whether the server would keep one value, some place below an object, as it keeps the other."""
    walk = Walk("")
    walk.visit(stored, sent, type, ("f:",))
    return not walk.differing


def _own_metadata(metadata: Any) -> Any:
    return {key: value for key, value in metadata.items() if key not in OF_THE_SERVER} if isinstance(metadata, dict) else metadata


class Walk:
    """Collects the differences between stored and sent values; `root` names the definition of the whole object.

    `vanished` has empty values that are stored and no longer sent: Go types write some of them whether they are set or not.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.differing: list[Difference] = []
        self.vanished: list[Difference] = []

    def visit(self, old: Any, new: Any, type: Type, steps: Steps, *, whole: bool = False) -> None:
        """Compares one place; `whole` inside what is sent as a whole, where missing members may be defaults."""
        if old is new or equal(old, new):
            return
        if new is None or new is ABSENT or old is None or old is ABSENT:
            self._one_sided(old, new, type, steps, whole)
            return
        shape = shape_of(type, new)
        whole = whole or is_leaf(type, shape)
        if shape == MAP and isinstance(old, dict) and isinstance(new, dict):
            self._maps(old, new, type, steps, whole)
        elif shape == LIST and isinstance(old, list) and isinstance(new, list):
            self._lists(old, new, type, steps, whole)
        elif not same_form(type.form, old, new):
            self._say(steps, old, new)

    def _say(self, steps: Steps, old: Any, new: Any, doubt: str = "") -> None:
        self.differing.append(Difference(steps, old, new, doubt))

    def _one_sided(self, old: Any, new: Any, type: Type, steps: Steps, whole: bool) -> None:
        """One side has no value, or null."""
        if type.go and (old is None or old is ABSENT) and (new is None or new is ABSENT):
            return
        if old is None or old is ABSENT:
            if new is None:
                self._say(steps, old, new, _NULL)
            elif type.go and (new == [] or (new == {} and not type.fields)):
                return
            elif is_empty(new):
                # An empty struct is there or not, as a pointer is; other empty values are left out, but for pointers.
                self._say(steps, old, new, EMPTY if type.go and new != {} else "")
            elif isinstance(new, dict) and type.is_map and not type.map_atomic and steps[-1].startswith("f:"):
                self._maps({}, new, type, steps, whole)
            else:
                self._say(steps, old, new)
        elif type.go and is_empty(old) and (new is ABSENT or old in ([], {})):
            if new is ABSENT and not whole:
                self.vanished.append(Difference(steps, old, new, BACK))
        elif isinstance(old, dict) and type.is_map and not type.map_atomic and not whole:
            self._maps(old, {}, type, steps, whole)
        elif new is None:
            self._say(steps, old, new, _NULL)
        else:
            self._say(steps, old, new)

    def _maps(self, old: dict[str, Any], new: dict[str, Any], type: Type, steps: Steps, whole: bool) -> None:
        for name in old.keys() | new.keys():
            below = type.member(name)
            if below is None:
                continue
            if whole and name not in new:
                self._filled(name, old[name], type, below, (*steps, f"f:{name}"))
            else:
                self.visit(old.get(name, ABSENT), new.get(name, ABSENT), below, (*steps, f"f:{name}"), whole=whole)

    def _filled(self, name: str, value: Any, type: Type, below: Type, steps: Steps) -> None:
        """A member that is stored inside something sent as a whole without it."""
        declared = type.defaults.get(name)
        for default in (declared, filled_in(type.name, name)):
            if default is not None and equal(default, value):
                return
        if type.go and value is None:
            return
        if isinstance(value, dict) and below.fields and declared == {}:  # a struct that is always there, not a pointer
            self._maps(value, {}, below, steps, True)
        else:
            self._say(steps, value, ABSENT, _FILLED if type.go else "")

    def _lists(self, old: list[Any], new: list[Any], type: Type, steps: Steps, whole: bool) -> None:
        if whole:
            old = without_added(self.root, steps, old, new)
            if len(old) != len(new):
                self._say(steps, old, new)
                return
            for position, (before, after) in enumerate(zip(old, new, strict=True)):
                self.visit(before, after, type.item, (*steps, f"i:{position}"), whole=True)
            return
        before, after = steps_to(old, type), steps_to(new, type)
        lower, upper = dict(zip(before, old, strict=True)), dict(zip(after, new, strict=True))
        count = len(self.differing)
        for step in dict.fromkeys([*before, *after]):
            self.visit(lower.get(step, ABSENT), upper.get(step, ABSENT), type.item, (*steps, step))
        if before != after and count == len(self.differing):
            self._say(steps, old, new)
