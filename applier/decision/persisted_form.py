"""Finds the differences between a stored object and a merged one that remain once the server has decoded and defaulted the merged one.

The server merges values as they are sent, then decodes them into Go structs (or prunes and defaults custom resources), and writes only if
the result differs from what is stored. A difference of which only the server knows whether it remains carries a caveat, never a guess.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from applier.decision.fields import SERVER_METADATA
from applier.decision.go_types import default_of, is_computed, is_gated, is_known, is_validated_when_empty
from applier.decision.schema import Type
from applier.decision.values import LIST, equal, equal_in_form, equal_when_rounded, is_empty, is_leaf, is_unset, steps_to, value_below
from applier.outcome import ABSENT
from applier.ref import Manifest

_POD_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for name in ("not-ready", "unreachable")
]


def without_admission_additions(definition: str, steps: tuple[str, ...], stored: list[Any], sent: list[Any]) -> list[Any]:
    """Returns a stored list without the items that admission always adds: a Pod's tolerations of nodes that are not ready (300 s)."""
    if definition != "io.k8s.api.core.v1.Pod" or steps != ("f:spec", "f:tolerations"):
        return stored
    return [item for item in stored if item in sent or item not in _POD_TOLERATIONS]


MAY_DEFAULT = "the server may fill it in again"
"""The caveat of a declared field that is removed from an object of Go types: the server may set it to its default."""
_FILLED = "the server may have filled it in"
_NEW = "a field that is newer than this program, which a server may omit when it is empty"
_GATED = "the server may omit it if its feature is disabled"
_VALIDATED = "the server stores it as if it were absent, but may reject it"
_NULL = "null may mean a default"
_ROUNDED = "the server may round it"
_IDENTITY = frozenset(("apiVersion", "kind"))
Steps = tuple[str, ...]


class PersistedDifference(NamedTuple):
    """Represents one place that differs: its steps in FieldsV1, the stored and the sent value, and the caveat, empty if it is certain."""

    steps: Steps
    old: Any
    new: Any
    caveat: str = ""


def differences(live: Manifest, sent: Manifest, schema: Type) -> list[PersistedDifference]:
    """Returns all differences between a stored object and one merged from it, except in metadata that only the server sets."""
    walk = Walk(schema.name)
    for name in live.keys() | sent.keys():
        below = schema.member(name)
        if name in _IDENTITY or (name == "status" and schema.status) or below is None:
            continue
        old, new = live.get(name, ABSENT), sent.get(name, ABSENT)
        if name == "metadata":
            walk.visit_members(_own_metadata(old), _own_metadata(new), below, (f"f:{name}",))
            continue
        walk.visit(old, new, below, (f"f:{name}",), schema)
    differing = [found._replace(caveat=MAY_DEFAULT) if _may_be_defaulted(found, sent, schema) else found for found in walk.differing]
    return sorted(differing, key=lambda found: found.steps)


def _may_be_defaulted(found: PersistedDifference, sent: Manifest, schema: Type) -> bool:
    """Reports whether the server may set again a field that `sent` no longer has: a declared field of a struct that is still sent.

    List items and keys of undeclared fields are never defaulted, nor is anything in them.
    """
    if found.new is not ABSENT or found.caveat:
        return False
    value: Any = sent
    at = schema
    for step in found.steps:
        if step.startswith("f:") and (not isinstance(value, dict) or value.get(step[2:]) is None):
            return at.go and step[2:] in at.fields and _may_have_default(at, step[2:])
        value = value_below(value, step, at)
        below = at.below(step)
        if value is ABSENT or below is None:
            return False
        at = below
    return False


def _may_have_default(owner: Type, name: str) -> bool:
    has_default = name in owner.defaults or default_of(owner.name, name) is not None or is_computed(owner.name, name)
    return has_default or not is_known(owner.name, name)


def stored_alike(stored: Any, sent: Any, schema: Type, owner: Type | None = None, name: str = "") -> bool:
    """Reports whether the server would store two values of one place below an object alike.

    `owner` is the type of the map with this field and `name` the field's name; None for list items and map values.
    """
    walk = Walk("")
    walk.visit(stored, sent, schema, (f"f:{name}",), owner)
    return not walk.differing


def _own_metadata(metadata: Any) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in SERVER_METADATA} if isinstance(metadata, dict) else {}


class Walk:
    """Collects the differences between stored and sent values. `root` is the name of the whole object's definition."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.differing: list[PersistedDifference] = []

    def visit(self, old: Any, new: Any, schema: Type, steps: Steps, owner: Type | None = None, *, atomic: bool = False) -> None:
        """Compares one place. `owner` is the type of the map with this field, None for items; `atomic` means inside an atomic value."""
        if old is new or equal(old, new):
            return
        if owner is not None and schema.go and owner.defaults.get(steps[-1][2:]) == {} and schema.is_map:
            # A struct that is no pointer: Go always writes it, as `{}` if need be.
            old, new = ({} if value is ABSENT or value is None else value for value in (old, new))
        was_unset, is_now_unset = is_unset(old, schema), is_unset(new, schema)
        if is_now_unset:
            if not was_unset:
                self._unset(old, new, schema, steps, owner, atomic)
            elif new is not ABSENT and new is not None and owner is not None and is_validated_when_empty(owner.name, steps[-1][2:]):
                self._add(steps, old, new, _VALIDATED)
        elif was_unset:
            if not self._visit_as_empty({}, new, schema, steps, atomic):
                self._add(steps, old, new, _caveat_of(owner, steps, new))
        elif isinstance(old, dict) and isinstance(new, dict) and schema.is_map:
            self.visit_members(old, new, schema, steps, atomic or schema.map_atomic)
        elif isinstance(old, list) and isinstance(new, list) and schema.is_list:
            self._lists(old, new, schema, steps, atomic or is_leaf(schema, LIST))
        elif not equal_in_form(schema.form, old, new):
            rounded = schema.form == "quantity" and equal_when_rounded(old, new)
            self._add(steps, old, new, _ROUNDED if rounded else _caveat_of(owner, steps, new) if is_empty(new) else "")

    def _add(self, steps: Steps, old: Any, new: Any, caveat: str = "") -> None:
        self.differing.append(PersistedDifference(steps, old, new, caveat))

    def _unset(self, old: Any, new: Any, schema: Type, steps: Steps, owner: Type | None, atomic: bool) -> None:
        """Compares a stored value with a sent one that the server treats as absent, for which it may store a default."""
        name = steps[-1][2:]
        if owner is not None and (equal(old, owner.defaults.get(name)) or equal(old, default_of(owner.name, name))):
            return
        if new is not ABSENT or atomic or not self._visit_as_empty(old, {}, schema, steps, atomic):
            self._add(steps, old, new, _caveat_of(owner, steps, new) if atomic or new is not ABSENT else "")

    def _visit_as_empty(self, old: Any, new: Any, schema: Type, steps: Steps, atomic: bool) -> bool:
        """Compares a map with an empty one, member by member; returns whether that found a difference, which it does not for `{}`."""
        count = len(self.differing)
        if isinstance(old, dict) and isinstance(new, dict) and schema.is_map and not schema.map_atomic:
            self.visit_members(old, new, schema, steps, atomic)
        return count < len(self.differing)

    def visit_members(self, old: dict[str, Any], new: dict[str, Any], schema: Type, steps: Steps, atomic: bool = False) -> None:
        """Compares two maps by the members of both."""
        for name in old.keys() | new.keys():
            before, after = old.get(name, ABSENT), new.get(name, ABSENT)
            if equal(before, after):  # nearly all are: checked first, before paths and types are built
                continue
            below = schema.member(name)
            if below is None:
                continue
            if name in schema.fields:
                self.visit(before, after, below, (*steps, f"f:{name}"), schema, atomic=atomic)
            else:
                self._visit_element(before, after, below, (*steps, f"f:{name}"), atomic)

    def _visit_element(self, old: Any, new: Any, schema: Type, steps: Steps, atomic: bool) -> None:
        """Compares a list item, or the value of an undeclared map key. Go never omits these, and decodes null as their zero value."""
        old, new = _zeroed(old, schema), _zeroed(new, schema)
        if old is ABSENT or new is ABSENT:
            if old is not new and (new is not ABSENT or atomic or not self._visit_as_empty(old, {}, schema, steps, atomic)):
                self._add(steps, old, new)
        else:
            self.visit(old, new, schema, steps, atomic=atomic)

    def _lists(self, old: list[Any], new: list[Any], schema: Type, steps: Steps, atomic: bool) -> None:
        if atomic:
            old = without_admission_additions(self.root, steps, old, new)
            if len(old) != len(new):
                self._add(steps, old, new)
                return
            for position, (before, after) in enumerate(zip(old, new, strict=True)):
                self._visit_element(before, after, schema.item, (*steps, f"i:{position}"), True)
            return
        stored_steps, sent_steps = steps_to(old, schema), steps_to(new, schema)
        stored, sent = dict(zip(stored_steps, old, strict=True)), dict(zip(sent_steps, new, strict=True))
        count = len(self.differing)
        for step in dict.fromkeys([*stored_steps, *sent_steps]):
            self._visit_element(stored.get(step, ABSENT), sent.get(step, ABSENT), schema.item, (*steps, step), False)
        if stored_steps != sent_steps and count == len(self.differing):  # only the order differs
            self._add(steps, old, new)


def _zeroed(value: Any, schema: Type) -> Any:
    if value is not None or not schema.go:
        return value
    return "" if schema.scalar == "string" else "0" if schema.form == "quantity" else None


def _caveat_of(owner: Type | None, steps: Steps, new: Any) -> str:
    """Returns why only the server knows what it stores for a field sent as absent or empty; empty if we know it, too."""
    name = steps[-1][2:]
    if owner is None or name not in owner.fields:
        return ""
    if not owner.go:
        return _NULL if new is None and name in owner.defaults else ""
    if not is_known(owner.name, name):
        return _NEW if new is ABSENT or is_empty(new) else ""
    return _GATED if is_gated(owner.name, name) else _FILLED if is_computed(owner.name, name) else ""
