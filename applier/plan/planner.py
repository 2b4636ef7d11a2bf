"""Plans the steps from a graph and the live objects: one for each object, in the order of writing, without a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from applier.cluster import Live
from applier.decision import CLIENT_SIDE, Decision, Schemas, Type, Verdict, decide
from applier.decision.managers import after_takeover, entries_of, managers_to_take_over, ownership_patch
from applier.desired import Desired, Graph, Policy
from applier.errors import NotSynced
from applier.outcome import ABSENT, QUIET, WRITTEN, Action, Obstacle, Step
from applier.plan.follow import follow
from applier.plan.immutable import fixed_fields
from applier.plan.membership import LABEL, Whose, applyset_left, conflicts_over, may_change_applyset, staying, whose
from applier.plan.order import Edges, HardEdges, defined_kinds, order
from applier.plan.reasons import RECREATE, what_conflicts, what_differs, what_is_fixed, which_set
from applier.ref import GroupKind, Kind, Manifest, Ref, being_deleted, refers_to, resource_version_of, uid_of, with_owner


@dataclass(frozen=True, slots=True)
class Intent:
    """Configures the field manager of writes, and the managers whose fields may be taken over.

    `force`: the managers whose fields may be taken over on conflicts, `*` for all. `take_over`: the managers whose ownership becomes ours,
    so that fields that we give up later are removed. `brief` omits the differences of create-only objects, which a loop does not report:
    they take 260 us per Pod, and every reconcile of a replica has all of its pods.
    """

    manager: str
    force: tuple[str, ...] = ()
    take_over: tuple[str, ...] = CLIENT_SIDE
    brief: bool = False

    def manager_of(self, policy: Policy) -> str:
        """Returns the field manager of an object: for a part one of its own, whose apply gives up nothing that `manager` owns beside."""
        return f"{self.manager}-part" if policy.part else self.manager

    def may_take_from(self, policy: Policy) -> tuple[str, ...]:
        """Returns the managers from which an object's fields may be taken by force: for a part also `manager`, which once applied parts."""
        return (*self.force, *policy.force, *((self.manager,) if policy.part else ()))

    def taken_over(self, policy: Policy) -> tuple[str, ...]:
        """Returns the managers whose ownership of an object's fields becomes ours."""
        return () if policy.part else self.take_over


@dataclass(slots=True, eq=False)
class Plan:
    """Holds the steps of a run.

    `steps` are in the order of writing, each with its wave. An object is held if one of its `hard_dependencies`, those of the graph, fails;
    its `soft_dependencies`, which Kubernetes implies, only have to exist. `live` and `schemas` are the live objects and the schemas that
    the steps were decided on, for their execution.
    """

    steps: list[Step]
    intent: Intent
    hard_dependencies: HardEdges = field(default_factory=dict)
    soft_dependencies: Edges = field(default_factory=dict)
    live: dict[Ref, Manifest] = field(default_factory=dict)
    schemas: Schemas = field(default_factory=Schemas)

    def counts(self) -> Counter[Action]:
        """Counts the steps by action."""
        return Counter(step.action for step in self.steps)

    def changed(self) -> list[Step]:
        """Returns the steps that change something: all except unchanged and yielded ones."""
        return [step for step in self.steps if step.action not in QUIET]

    def writes(self, graph: Graph) -> Plan:
        """Returns the plan without its prune steps."""
        return replace(self, steps=[step for step in self.steps if step.ref in graph.objects])

    def waves(self) -> list[list[Step]]:
        """Returns the steps by wave, in order, including empty waves."""
        waves: list[list[Step]] = [[] for _ in range(1 + max((step.wave for step in self.steps), default=-1))]
        for step in self.steps:
            waves[step.wave].append(step)
        return waves


DecideStep = Callable[[Desired, Manifest | None, Type | None, Intent, str, str], Step]
"""The signature of `step_for`."""


def plan(
    graph: Graph,
    live: Live,
    schemas: Schemas,
    intent: Intent,
    *,
    prunable: Sequence[Step] = (),
    unserved: Collection[Kind] = (),
    decide_step: DecideStep | None = None,
) -> Plan:
    """Plans how to make the cluster equal to the graph. Pure, and linear in objects and edges. Raises `Cycle`.

    `prunable`: steps for objects that are no longer desired, in the order of their deletion; they come after all waves.
    `unserved`: kinds that the server is known not to serve. `decide_step` does what `step_for` does, which it is by default.
    """
    waves, hard, soft = order(graph)
    state = _PlannedState(live, defined_kinds(graph), unserved, decide_step or step_for)
    planned = Plan([], intent, hard, soft, state.seen, schemas)
    for wave, refs in enumerate(waves):
        for ref in refs:
            step = state.step_for(graph.objects[ref], schemas, intent)
            step.wave = wave
            state.add(step)
            planned.steps.append(step)
    for step in prunable:
        step.wave += len(waves)
        planned.steps.append(step)
    return planned


class UnknownState(Exception):
    """Reports that an object's live state is unknown, with the reason."""

    obstacle = Obstacle.NONE


class UnservedKind(UnknownState):
    """Reports that the server does not serve an object's kind."""

    obstacle = Obstacle.UNSERVED


class UnreadKind(UnknownState):
    """Reports that the state of an object's kind is not known."""

    obstacle = Obstacle.UNREAD


@dataclass(slots=True, eq=False)
class _PlannedState:
    """Combines a snapshot of the cluster with the steps decided so far.

    `defined` has the CRDs of the graph by the group and kind that they define, `unserved` the kinds that the server does not serve, and
    `seen` the live objects that were read.
    """

    live: Live
    defined: Mapping[GroupKind, Ref]
    unserved: Collection[Kind]
    decide_step: DecideStep
    steps: dict[Ref, Step] = field(default_factory=dict)
    seen: dict[Ref, Manifest] = field(default_factory=dict)
    _recreated: set[Ref] = field(default_factory=set)

    def step_for(self, desired: Desired, schemas: Schemas, intent: Intent) -> Step:
        """Decides the step for one object, given the steps before it."""
        try:
            live = self.live_object(desired)
        except UnknownState as error:
            return Step(desired.ref, Action.FAILED, str(error), obstacle=error.obstacle)
        uid = self.uid(desired.owner) if desired.owner is not None else ""
        return self.decide_step(desired, live, schemas.get(Kind.of(desired.manifest)), intent, uid, self.replaced(desired.ref))

    def add(self, step: Step) -> None:
        """Records a step, for the decisions on later objects."""
        self.steps[step.ref] = step
        if step.uid and self._is_new(step.ref):
            self._recreated.add(step.ref)

    def live_object(self, desired: Desired) -> Manifest | None:
        """Returns the live object, or None if there is none. Raises `UnknownState`."""
        definition = self.defined.get(desired.ref[:2])
        if definition is not None and self._is_new(definition) and definition not in self._recreated:
            return None
        if self.unserved and definition is None and (kind := Kind.of(desired.manifest)) in self.unserved:
            raise UnservedKind(f"the server does not serve {kind.kind} in {kind.api_version}; install its definition first")
        try:
            live = self.live.get(desired.ref)
        except NotSynced as error:
            raise UnreadKind(f"the live object cannot be read: {error}") from None
        except KeyError:
            raise UnknownState("the live object was not read") from None
        if live is not None:
            self.seen[desired.ref] = live
        return live

    def uid(self, owner: Ref) -> str:
        """Returns an owner's UID if it stays the same; empty if the owner is (re)created before or is unknown."""
        if owner in self.steps:
            return "" if self._is_new(owner) else self.steps[owner].uid
        try:
            return uid_of(self.live.get(owner) or {})
        except KeyError:
            return ""

    def replaced(self, ref: Ref) -> str:
        """Returns why the live object will be gone before its step is executed; empty if it will not."""
        if not self._recreated:
            return ""
        around = (Ref("", "Namespace", "", ref.namespace), self.defined.get(ref[:2]))
        return next((f"{other} is recreated, and it with it" for other in around if other in self._recreated), "")

    def _is_new(self, ref: Ref) -> bool:
        return ref in self.steps and self.steps[ref].action in (Action.CREATED, Action.RECREATED)


def step_for(desired: Desired, live: Manifest | None, schema: Type | None, intent: Intent, owner_uid: str, replaced: str = "") -> Step:
    """Decides the step for one object, given the live one with values of Secrets hidden.

    `owner_uid` is that of its owner, empty while it is unknown; `replaced` is why the live object will be gone before its step is executed,
    if so. Never raises: a comparison that fails is a failed step.
    """
    step = Step(desired.ref, Action.UNCHANGED)
    try:
        if live is not None:
            step.uid, step.resource_version = uid_of(live), resource_version_of(live)
        _decide(step, desired, live, schema, intent, owner_uid, replaced)
    except Exception as error:  # an object that cannot be compared must not affect the plan of others
        _settle(step, Action.FAILED, f"cannot be compared: {type(error).__name__}: {error}")
    return step


def _settle(step: Step, action: Action, reason: str = "", *, unsure: bool = False) -> None:
    step.action, step.reason, step.unsure = action, reason, unsure


def _decide(
    step: Step, desired: Desired, live: Manifest | None, schema: Type | None, intent: Intent, owner_uid: str, replaced: str
) -> None:
    """Decides an object's step by the first case that applies, in order of precedence."""
    manifest, owner = desired.manifest, desired.owner
    if live is None:
        return _settle(step, Action.CREATED)
    if live["metadata"].get("deletionTimestamp"):
        return _settle(step, Action.CREATED, f"the existing one {being_deleted(live)}; it is recreated once that one is gone")
    if replaced:
        return _settle(step, Action.CREATED, replaced)
    if owner is not None and refers_to(manifest, owner):
        if not owner_uid:
            return _settle(step, Action.CONFIGURED, f"gets the UID of its owner {owner} once it is known", unsure=True)
        manifest = with_owner(manifest, owner, owner_uid)
    if not desired.policy.adopt and (other := whose(manifest, live, intent.manager, intent.manager_of(desired.policy))):
        return _compare_foreign(step, desired, manifest, live, schema, intent, other)
    return _compare(step, desired, manifest, live, schema, intent)


def _compare_foreign(
    step: Step, desired: Desired, manifest: Manifest, live: Manifest, schema: Type | None, intent: Intent, other: Whose
) -> None:
    """Holds the step of an object of somebody else that differs, or that is only ever created, since it is not compared then."""
    _compare(step, desired, manifest, live, schema, intent)
    if step.action not in QUIET or desired.policy.create_only:
        step.obstacle, step.intent, step.patch = other.obstacle, None, []
        _settle(step, Action.HELD, f"exists, {other.words}, and is left unchanged (policy adopt)")


def _compare(step: Step, desired: Desired, manifest: Manifest, live: Manifest, schema: Type | None, intent: Intent) -> None:
    """Decides the step from a comparison with the live object as it will be after ownership is taken over."""
    policy = desired.policy
    if policy.create_only and intent.brief:
        _follow(step, desired, live, "is only created, never changed")
        return
    take_over, manager = intent.taken_over(policy), intent.manager_of(policy)
    patch = ownership_patch(live, manager, take_over)
    may = intent.may_take_from(policy)
    over = after_takeover(live, patch)
    manifest = staying(manifest, over, manager)
    decision = decide(manifest, over, schema, manager=manager, yields=policy.yields, force=may)
    step.changes, step.conflicts = decision.changes, decision.conflicts
    # Stored for the execution: deciding again would take 260 us per written object, more than the 110 us of its request.
    step.intent, step.force = decision.intent, decision.force
    _apply_verdict(step, desired, live, decision)
    only_records = step.action is Action.CONFIGURED and not step.changes and not step.unsure
    if patch and (step.action in QUIET or only_records) and not policy.create_only:
        others = ", ".join(managers_to_take_over(live, manager, take_over))
        _settle(step, Action.CONFIGURED, f"ownership is taken over from {others}")
    if other := applyset_left(manifest, live):
        _hold_in_set(step, live, other, may)


def _hold_in_set(step: Step, live: Manifest, other: str, may: Collection[str]) -> None:
    """Holds the step of a member of another ApplySet, unless it may be moved or is not written anyway."""
    over_label = conflicts_over(live)
    if step.action in WRITTEN and not may_change_applyset(over_label, may):
        step.conflicts = over_label
        _settle(step, Action.HELD, which_set(other))
    elif step.conflicts and all(conflict.path == LABEL for conflict in step.conflicts):
        _settle(step, Action.HELD, which_set(other))


def _apply_verdict(step: Step, desired: Desired, live: Manifest, decision: Decision) -> None:
    """Sets the action and the reason of a step by the verdict of a comparison."""
    verdict, policy = decision.verdict, desired.policy
    if policy.create_only:
        # We own all fields of an object that we created by a plain create, defaults included: additional fields are no difference.
        step.changes = [change for change in step.changes if change.new is not ABSENT]
        differs = step.changes and verdict not in (Verdict.SAME, Verdict.YIELDED)  # ownership is irrelevant here
        reason = "is only created, never changed" + (f"; differs in {what_differs(step.changes)}" if differs else "")
        return _follow(step, desired, live, reason)
    if verdict is Verdict.SAME or _desires_only_existence(decision, live):
        return _settle(step, Action.UNCHANGED)
    if verdict is Verdict.YIELDED:
        return _settle(step, Action.YIELDED, decision.reason)
    if verdict is Verdict.CONFLICT:
        return _settle(step, Action.HELD, what_conflicts(step.conflicts))
    if verdict is Verdict.UNKNOWN:
        return _settle(step, Action.CONFIGURED, decision.reason, unsure=True)
    defaultable = set(map(id, decision.defaultable))
    if fixed := fixed_fields(desired.ref, live, [change for change in step.changes if id(change) not in defaultable]):
        reason = what_is_fixed(fixed)
        return _settle(step, Action.RECREATED, reason) if policy.recreate else _settle(step, Action.HELD, f"{reason}; {RECREATE}")
    return _settle(step, Action.CONFIGURED, what_differs(step.changes), unsure=decision.unsure)


def _follow(step: Step, desired: Desired, live: Manifest, reason: str) -> None:
    """Leaves a create-only object unchanged, except for the fields that follow the graph."""
    following = follow(desired.manifest, live, desired.policy.follows, lambda change: bool(fixed_fields(desired.ref, live, [change])))
    if not following.patch:
        return _settle(step, Action.UNCHANGED, reason)
    step.patch, step.changes, step.intent = following.patch, following.changes, desired.manifest
    return _settle(step, Action.CONFIGURED, what_differs(step.changes))


def _desires_only_existence(decision: Decision, live: Manifest) -> bool:
    """Reports whether a manifest has no fields besides the object's identity, as a bare Namespace.

    The server stores no managers of an object without owned fields, so applying it again would change nothing but managedFields.
    """
    metadata = decision.intent["metadata"]
    bare = decision.intent.keys() <= {"apiVersion", "kind", "metadata"} and metadata.keys() <= {"name", "namespace"}
    return bare and decision.verdict is Verdict.CHANGE and not entries_of(live)
