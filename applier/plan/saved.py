"""Saves plans for review and later execution; none is executed if the live state has changed in between.

A saved plan is JSON and contains the objects, except for values of Secrets. To execute a plan that writes Secrets, the same input has to be
provided again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from applier.cluster import Live
from applier.desired import Desired, Graph, Policy
from applier.errors import ApplierError
from applier.outcome import ABSENT, Action, Conflict, FieldChange, ItemKey, Owner, Path, Step
from applier.plan.order import order
from applier.plan.planner import Intent, Plan
from applier.ref import Manifest, Ref, resource_version_of, uid_of

SECRET = ("", "Secret")
VALUES = ("data", "stringData")
HIDDEN = "hidden"
"""Replaces the values of Secrets."""

Json = dict[str, Any]
VERSION = 2


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
        policy=Policy(**{**policy, **{name: tuple(policy[name]) for name in ("yields", "force", "follows", "optional") if name in policy}}),
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


class InvalidPlan(ApplierError):
    """Reports a saved plan that cannot be read, or that was made from another input."""


@dataclass(slots=True, eq=False)
class SavedPlan:
    """Holds a plan with everything that is needed to execute it, except for values of Secrets.

    `prints` has the fingerprint of each live object that the plan was decided on. `has_values` is set once the input was provided again.
    `applyset` has the data of the graph's ApplySet, if any. `cluster` is the identity of the cluster that the plan is for, `namespace` that
    of manifests without one; both are empty if unspecified.
    """

    plan: Plan
    graph: Graph
    input_hash: str
    prints: dict[Ref, str] = field(default_factory=dict)
    has_values: bool = False
    applyset: dict[str, Any] = field(default_factory=dict)
    cluster: str = ""
    namespace: str = ""

    def prunes(self) -> list[Step]:
        """Returns the steps that delete objects which are no longer desired, in the order of deletion."""
        return [step for step in self.plan.steps if step.ref not in self.graph.objects]

    def lacks_values(self) -> list[Ref]:
        """Returns the Secrets to be written whose values are missing; empty once `with_input` was called."""
        written = [step.ref for step in self.plan.changed() if step.ref in self.graph.objects]
        return [] if self.has_values else [ref for ref in written if values_of(self.graph.objects[ref].manifest)]

    def with_input(self, graph: Graph) -> SavedPlan:
        """Returns the plan with the objects of the input, values included. Raises `InvalidPlan` if it was made from another input."""
        if input_hash(graph) != self.input_hash:
            raise InvalidPlan("the plan was created from a different input; create a new plan")
        return replace(self, graph=graph, has_values=True)


def save(plan: Plan, graph: Graph, applyset: Mapping[str, Any] | None = None, *, cluster: str = "", namespace: str = "") -> bytes:
    """Serializes a plan as JSON, the same bytes for the same plan. `applyset` is its ApplySet's data, as JSON."""
    saved = {
        "version": VERSION,
        "input": input_hash(graph),
        "intent": {"manager": plan.intent.manager, "force": plan.intent.force, "takeOver": plan.intent.take_over},
        "objects": [desired_form(desired) for desired in graph.objects.values()],
        "steps": [{**step_form(step), "print": fingerprint(plan.live.get(step.ref))} for step in plan.steps],
        "set": applyset or {},
        "cluster": cluster,
        "namespace": namespace,
    }
    return _canonical({**saved, "seal": _seal(saved)})


def load(data: bytes) -> SavedPlan:
    """Parses the output of `save`. Raises `InvalidPlan`."""
    try:
        saved = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidPlan(f"not a saved plan: {error}") from None
    version = saved.get("version") if isinstance(saved, dict) else None
    if version != VERSION:
        raise InvalidPlan(f"a saved plan of version {version}; this program reads version {VERSION}: create a new plan")
    try:
        seal = saved.pop("seal", "")
        plan = _read(saved)
        if seal != _seal(saved):
            raise InvalidPlan("the saved plan was modified after it was created: create a new plan")
        return plan
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidPlan(f"not a complete saved plan: {type(error).__name__}: {error}") from None


def _read(saved: dict[str, Any]) -> SavedPlan:
    intent, graph = saved["intent"], Graph([read_desired(form) for form in saved["objects"]])
    intent = Intent(intent["manager"], tuple(intent["force"]), tuple(intent["takeOver"]))
    plan = Plan([read_step(form) for form in saved["steps"]], intent, *order(graph)[1:])
    prints = {step.ref: form["print"] for step, form in zip(plan.steps, saved["steps"], strict=True)}
    return SavedPlan(plan, graph, saved["input"], prints, False, saved["set"], saved["cluster"], saved["namespace"])


def check(saved: SavedPlan, live: Live) -> list[str]:
    """Returns every way in which the live state differs from the one that the plan was decided on.

    Stores the live objects in the plan, for its execution. Steps that prune are checked by `OpenApplySet.why_moved`.
    """
    reasons: list[str] = []
    for step in saved.plan.writes(saved.graph).steps:
        try:
            now = live.get(step.ref)
        except KeyError:
            now = None
        if now is not None:
            saved.plan.live[step.ref] = now
        reasons.extend(f"{step.ref} {why}" for why in why_moved(step, now, saved.prints[step.ref]))
    return reasons


def why_moved(step: Step, now: Manifest | None, before: str) -> Iterator[str]:
    """Yields how an object differs from the one that its step was decided on, whose fingerprint is `before`."""
    if step.action is Action.FAILED:
        return
    uid = uid_of(now or {})
    if not step.uid and uid:
        yield "exists now"
    elif step.uid and not uid:
        yield "is gone"
    elif step.uid != uid:
        yield "was deleted and recreated"
    elif now is not None and resource_version_of(now) != step.resource_version and (not before or fingerprint(now) != before):
        yield "has changed"


def input_hash(graph: Graph) -> str:
    """Returns a hash of the whole input. Values of Secrets enter it together and slowly, so that none can be guessed from it."""
    forms = [desired_form(desired) for desired in graph.objects.values()]
    values = [[ref, value] for ref, desired in graph.objects.items() if (value := values_of(desired.manifest))]
    shown = hashlib.sha256(_canonical(forms)).digest()
    secret = hashlib.scrypt(_canonical(values), salt=shown, n=2**14, r=8, p=1, dklen=32) if values else b""
    return "sha256:" + hashlib.sha256(shown + secret).hexdigest()


def fingerprint(live: Manifest | None) -> str:
    """Returns a hash of what a decision reads of a live object: not its status, nor who wrote that and when.

    Empty for a Secret, whose values are not known here: of it, only the same resource version is the same.
    """
    if live is None or Ref.of(live)[:2] == SECRET:
        return ""
    metadata = {key: value for key, value in live["metadata"].items() if key not in ("resourceVersion", "managedFields")}
    entries = [{**entry, "time": ""} for entry in live["metadata"].get("managedFields") or () if entry.get("subresource", "") != "status"]
    read = {key: value for key, value in live.items() if key not in ("status", "metadata")}
    return hashlib.sha256(_canonical([read, metadata, entries])).hexdigest()


def _seal(saved: dict[str, Any]) -> str:
    """Returns a checksum of the saved document. It reveals edits and truncation, but does not protect against forgery."""
    return "sha256:" + hashlib.sha256(_canonical(saved)).hexdigest()


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
