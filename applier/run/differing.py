"""What an apply would change, without applying."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from applier.cluster import Cluster
from applier.decision import decide, hide_secrets, merged, prepared
from applier.decision.intent import is_secret
from applier.decision.managers import ownership_patch, taken_over
from applier.decision.values import Misfit, check
from applier.desired import Desired, Graph
from applier.errors import FieldConflict, Invalid
from applier.outcome import WRITTEN, Action, Step
from applier.plan import CLIENT_SIDE
from applier.plan.holding import hold_back
from applier.plan.membership import staying
from applier.plan.owners import with_owner
from applier.ref import Kind, Manifest, Ref, uid_of
from applier.run.keeping import KeepSet
from applier.run.reading import Survey, survey


class Difference(NamedTuple):
    """One object as it is and as it would be; None where there is none (any more), and `merged` also where nobody can say."""

    step: Step
    live: Manifest | None
    merged: Manifest | None


async def diff(
    graph: Graph,
    cluster: Cluster,
    *,
    manager: str,
    force: tuple[str, ...] = (),
    take_over: tuple[str, ...] = CLIENT_SIDE,
    ask_server: bool = False,
    keep: KeepSet | None = None,
) -> list[Difference]:
    """What an apply would change: one entry for each object in the order of writing, unchanged ones included.

    What can be decided here is. The rest is a dry run of the server's, and with `ask_server` all that would be written is; what would not
    be is not asked about, since an apply does not send it. Nor are Secrets whose ownership is taken over: that would have to be tried
    with their values, which are not at hand. Steps take over what the server says. Values of Secrets are hidden. With `keep`, what would
    be pruned comes last. Raises what `survey` does.
    """
    found = await survey(graph, cluster, manager=manager, force=force, take_over=take_over, keep=keep)
    graph = found.graph
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    results = {step.ref: _worked_out(step, graph, found, now) for step in found.plan.steps if step.action in WRITTEN}
    asked = [step for step in found.plan.steps if step.action in WRITTEN and (ask_server or step.unsure)]
    if asked:
        results |= await _ask(found, asked, results, graph, cluster)
    hold_back(found.plan)  # the server, and schemas, may have refused more
    return [_difference(step, found, results) for step in found.plan.steps]


async def _ask(
    found: Survey, asked: list[Step], results: dict[Ref, Manifest | None], graph: Graph, cluster: Cluster
) -> dict[Ref, Manifest]:
    """What would be there by the server's word, for the steps that it accepts; steps say what the server said."""
    from applier.run.trying import settle, try_results, try_steps  # most runs of this need no request for an object, and start sooner

    over = {step.ref: result for step in asked if (result := results[step.ref]) is not None and _takes_over(step, found)}
    answers = await try_results(found.plan, over, graph, cluster)
    answers |= await try_steps(found.plan, [step for step in asked if step.ref not in over], graph, cluster)
    hidden = {ref: hide_secrets(answer) for ref, answer in answers.items()}
    for step in asked:
        live = found.plan.found.get(step.ref)
        if live is not None and step.ref in hidden and step.action is not Action.RECREATED:
            settle(step, live, hidden[step.ref], found.schemas.get(Kind.of(graph.objects[step.ref].manifest)))
    return hidden


def _takes_over(step: Step, found: Survey) -> bool:
    live, intent = found.plan.found.get(step.ref), found.plan.intent
    return step.action is Action.CONFIGURED and live is not None and bool(ownership_patch(live, intent.manager, intent.take_over))


def _difference(step: Step, found: Survey, results: dict[Ref, Manifest | None]) -> Difference:
    live = found.plan.found.get(step.ref)
    if step.action is Action.PRUNED:
        return Difference(step, live, None)
    return Difference(step, live, results.get(step.ref) if step.action in WRITTEN else live)


def _worked_out(step: Step, graph: Graph, found: Survey, now: str) -> Manifest | None:
    """What would be there, worked out here. An object that breaks its schema fails: the server would refuse it."""
    desired = graph.objects[step.ref]
    try:
        if is_secret(desired.manifest) and (schema := found.schemas.get(Kind.of(desired.manifest))) is not None:
            check(schema, prepared(desired.manifest, schema))  # here, since hashes are texts whatever they stand for
        return _merged(step, desired, found, found.plan.found.get(step.ref), now)
    except (Invalid, Misfit) as error:
        step.action, step.reason = Action.FAILED, f"the server would refuse it: {error}"
        return None


def _merged(step: Step, desired: Desired, found: Survey, live: Manifest | None, now: str) -> Manifest | None:
    """None when the server would have to be asked. Raises `Invalid`."""
    intent, schema = found.plan.intent, found.schemas.get(Kind.of(desired.manifest))
    wanted = hide_secrets(prepared(desired.manifest, schema))
    if schema is None:
        return wanted if step.action is Action.CREATED else None
    if live is None or step.action is not Action.CONFIGURED:
        return merged(wanted, None, schema, manager=intent.manager, now=now)
    owner = desired.owner
    uid = uid_of(_owner(found, owner) or {}) if owner is not None else ""
    if owner is not None and uid:
        wanted = with_owner(wanted, owner, uid)
    over = taken_over(live, ownership_patch(live, intent.manager, intent.take_over))
    wanted = staying(wanted, over, intent.manager)
    may = {*intent.force, *desired.policy.force}
    decision = decide(wanted, over, schema, manager=intent.manager, yields=desired.policy.yields, force=may)
    try:
        return merged(decision.intent, over, schema, manager=intent.manager, now=now, force=may)
    except FieldConflict:
        return None


def _owner(found: Survey, owner: Ref) -> Manifest | None:
    """The live owner of an object, in the graph or outside; None also where nobody looked."""
    try:
        return found.live.get(owner)
    except KeyError:
        return None
