"""Whether what is sent is what is stored: differences that survive the server's reading, filling in and writing.

The server compares values as they are sent, then reads them into its own types (or prunes and defaults custom objects) and writes only
what is different then. A difference that cannot be judged from here carries a doubt, never a guess.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from applier.decision.fields import OF_THE_SERVER
from applier.decision.go_types import default_of, is_gated, is_judged_empty, is_known, is_worked_out
from applier.decision.schema import Type
from applier.decision.values import LIST, equal, is_empty, is_leaf, is_unset, rounds_alike, same_form, steps_to, value_below
from applier.outcome import ABSENT
from applier.ref import Manifest

_POD_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for name in ("not-ready", "unreachable")
]


def without_added(definition: str, steps: tuple[str, ...], stored: list[Any], sent: list[Any]) -> list[Any]:
    """Returns a stored list without the items that admission adds to it whenever they are missing: a Pod's tolerations of lost nodes."""
    if definition != "io.k8s.api.core.v1.Pod" or steps != ("f:spec", "f:tolerations"):
        return stored
    return [item for item in stored if item in sent or item not in _POD_TOLERATIONS]


BACK = "the server may fill it in again"
"""The doubt about a declared field that is taken out of an object of Go types: its default may come in its place."""
_FILLED = "the server may have filled it in"
_NEW = "a field that is newer than this program, which a server may leave out when it is empty"
_GATED = "the server may leave it out, with the feature that it belongs to"
_JUDGED = "the server stores it as if it were not there, but may refuse it"
_NULL = "null may stand for a default"
_ROUNDED = "the server may round it"
_IDENTITY = frozenset(("apiVersion", "kind"))
Steps = tuple[str, ...]


class Difference(NamedTuple):
    """One place that differs: its steps in FieldsV1, the stored and the sent value, and the doubt, empty where it is sure."""

    steps: Steps
    old: Any
    new: Any
    doubt: str = ""


def differences(live: Manifest, sent: Manifest, type: Type) -> list[Difference]:
    """Returns all differences between a stored object and one that has been merged from it, but for what only the server sets."""
    walk = Walk(type.name)
    for name in live.keys() | sent.keys():
        below = type.member(name)
        if name in _IDENTITY or (name == "status" and type.status) or below is None:
            continue
        old, new = live.get(name, ABSENT), sent.get(name, ABSENT)
        if name == "metadata":
            walk.visit_members(_own_metadata(old), _own_metadata(new), below, (f"f:{name}",))
            continue
        walk.visit(old, new, below, (f"f:{name}",), type)
    differing = [one._replace(doubt=BACK) if _may_be_filled(one, sent, type) else one for one in walk.differing]
    return sorted(differing, key=lambda one: one.steps)


def _may_be_filled(one: Difference, sent: Manifest, type: Type) -> bool:
    """Tells whether the server may fill in again what `sent` no longer has: a declared field whose surroundings stay.

    Items of lists and keys of free maps are gone for good, and all that is in them.
    """
    if one.new is not ABSENT or one.doubt:
        return False
    value: Any = sent
    at = type
    for step in one.steps:
        if step.startswith("f:") and (not isinstance(value, dict) or value.get(step[2:]) is None):
            return at.go and step[2:] in at.fields and _comes_back(at, step[2:])
        value = value_below(value, step, at)
        below = at.below(step)
        if value is ABSENT or below is None:
            return False
        at = below
    return False


def _comes_back(owner: Type, name: str) -> bool:
    filled = name in owner.defaults or default_of(owner.name, name) is not None or is_worked_out(owner.name, name)
    return filled or not is_known(owner.name, name)


def stored_alike(stored: Any, sent: Any, type: Type, owner: Type | None = None, name: str = "") -> bool:
    """Tells whether the server would keep one value, some place below an object, as it keeps the other."""
    walk = Walk("")
    walk.visit(stored, sent, type, (f"f:{name}",), owner)
    return not walk.differing


def _own_metadata(metadata: Any) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in OF_THE_SERVER} if isinstance(metadata, dict) else {}


class Walk:
    """Collects the differences between stored and sent values; `root` names the definition of the whole object."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.differing: list[Difference] = []

    def visit(self, old: Any, new: Any, type: Type, steps: Steps, owner: Type | None = None, *, whole: bool = False) -> None:
        """Compares one place; `whole` inside what is sent as a whole. `owner` is the type of the map with this field; None for items."""
        if old is new or equal(old, new):
            return
        if owner is not None and type.go and owner.defaults.get(steps[-1][2:]) == {} and type.is_map:
            # A struct and no pointer to one: it is there whatever is sent.
            old, new = ({} if one is ABSENT or one is None else one for one in (old, new))
        was_unset, is_now_unset = is_unset(old, type), is_unset(new, type)
        if is_now_unset:
            if not was_unset:
                self._unset(old, new, type, steps, owner, whole)
            elif new is not ABSENT and new is not None and owner is not None and is_judged_empty(owner.name, steps[-1][2:]):
                self._say(steps, old, new, _JUDGED)
        elif was_unset:
            if not self._by_member({}, new, type, steps, whole):
                self._say(steps, old, new, _doubt_of(owner, steps, new))
        elif isinstance(old, dict) and isinstance(new, dict) and type.is_map:
            self.visit_members(old, new, type, steps, whole or type.map_atomic)
        elif isinstance(old, list) and isinstance(new, list) and type.is_list:
            self._lists(old, new, type, steps, whole or is_leaf(type, LIST))
        elif not same_form(type.form, old, new):
            rounded = type.form == "quantity" and rounds_alike(old, new)
            self._say(steps, old, new, _ROUNDED if rounded else _doubt_of(owner, steps, new) if is_empty(new) else "")

    def _say(self, steps: Steps, old: Any, new: Any, doubt: str = "") -> None:
        self.differing.append(Difference(steps, old, new, doubt))

    def _unset(self, old: Any, new: Any, type: Type, steps: Steps, owner: Type | None, whole: bool) -> None:
        """Puts a default in the place of what is as good as nothing, where something is stored and there is a default."""
        name = steps[-1][2:]
        if owner is not None and (equal(old, owner.defaults.get(name)) or equal(old, default_of(owner.name, name))):
            return
        if new is not ABSENT or whole or not self._by_member(old, {}, type, steps, whole):
            self._say(steps, old, new, _doubt_of(owner, steps, new) if whole or new is not ABSENT else "")

    def _by_member(self, old: Any, new: Any, type: Type, steps: Steps, whole: bool) -> bool:
        """Compares a map with nothing, member by member; says whether that was worth saying. An empty struct may be all that is there."""
        count = len(self.differing)
        if isinstance(old, dict) and isinstance(new, dict) and type.is_map and not type.map_atomic:
            self.visit_members(old, new, type, steps, whole)
        return count < len(self.differing)

    def visit_members(self, old: dict[str, Any], new: dict[str, Any], type: Type, steps: Steps, whole: bool = False) -> None:
        """Compares two maps, by the members that either has."""
        for name in old.keys() | new.keys():
            before, after = old.get(name, ABSENT), new.get(name, ABSENT)
            if equal(before, after):  # as nearly all are: before anything is made for the others
                continue
            below = type.member(name)
            if below is None:
                continue
            if name in type.fields:
                self.visit(before, after, below, (*steps, f"f:{name}"), type, whole=whole)
            else:
                self._free(before, after, below, (*steps, f"f:{name}"), whole)

    def _free(self, old: Any, new: Any, type: Type, steps: Steps, whole: bool) -> None:
        """Keeps what is under a free key, or an item of a list, whatever it is: Go reads null as the empty value of its type."""
        old, new = _zeroed(old, type), _zeroed(new, type)
        if old is ABSENT or new is ABSENT:
            if old is not new and (new is not ABSENT or whole or not self._by_member(old, {}, type, steps, whole)):
                self._say(steps, old, new)
        else:
            self.visit(old, new, type, steps, whole=whole)

    def _lists(self, old: list[Any], new: list[Any], type: Type, steps: Steps, whole: bool) -> None:
        if whole:
            old = without_added(self.root, steps, old, new)
            if len(old) != len(new):
                self._say(steps, old, new)
                return
            for position, (before, after) in enumerate(zip(old, new, strict=True)):
                self._free(before, after, type.item, (*steps, f"i:{position}"), True)
            return
        left, right = steps_to(old, type), steps_to(new, type)
        lower, upper = dict(zip(left, old, strict=True)), dict(zip(right, new, strict=True))
        count = len(self.differing)
        for step in dict.fromkeys([*left, *right]):
            self._free(lower.get(step, ABSENT), upper.get(step, ABSENT), type.item, (*steps, step), False)
        if left != right and count == len(self.differing):
            self._say(steps, old, new)


def _zeroed(value: Any, type: Type) -> Any:
    if value is not None or not type.go:
        return value
    return "" if type.scalar == "string" else "0" if type.form == "quantity" else None


def _doubt_of(owner: Type | None, steps: Steps, new: Any) -> str:
    """Returns why it is not for us to say what becomes of a field that nothing is sent for, or something empty; empty where it is."""
    name = steps[-1][2:]
    if owner is None or name not in owner.fields:
        return ""
    if not owner.go:
        return _NULL if new is None and name in owner.defaults else ""
    if not is_known(owner.name, name):
        return _NEW if new is ABSENT or is_empty(new) else ""
    return _GATED if is_gated(owner.name, name) else _FILLED if is_worked_out(owner.name, name) else ""
