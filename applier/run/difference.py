"""What an apply would change, without applying."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from applier.cluster import Cluster
from applier.decision import hide_secrets, merged, prepared
from applier.decision.intent import is_secret
from applier.decision.managers import after_takeover, ownership_patch
from applier.decision.values import Misfit, check
from applier.desired import Desired, Graph
from applier.errors import FieldConflict, Invalid
from applier.outcome import WRITTEN, Action, Step
from applier.plan.holding import hold_back
from applier.ref import Kind, Manifest, Ref
from applier.run.live_state import Survey, survey
from applier.run.options import ApplyOptions


class Difference(NamedTuple):
    """One object as it is and as it would be; None where there is none (any more), and `merged` also where nobody can say."""

    step: Step
    live: Manifest | None
    merged: Manifest | None


async def diff(graph: Graph, cluster: Cluster, options: ApplyOptions, *, ask_server: bool = False) -> list[Difference]:
    """Returns what an apply would change: one entry for each object in the order of writing, unchanged ones included.

    What can be decided here is. The rest is a dry run of the server's, and with `ask_server` all that would be written is; what would not
    be is not asked about, since an apply does not send it. Nor are Secrets whose ownership is taken over: that would have to be tried
    with their values, which are not at hand. Steps take over what the server says. Values of Secrets are hidden. What the plan of a set
    prunes comes last. Raises what `survey` does.
    """
    state = await survey(graph, cluster, options)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    results = {step.ref: _worked_out(step, state, now) for step in state.plan.steps if step.action in WRITTEN}
    asked = [step for step in state.plan.steps if step.action in WRITTEN and (ask_server or step.unsure)]
    if asked:
        results |= await _ask(state, asked, results, cluster)
    hold_back(state.plan)  # the server, and schemas, may have refused more
    return [_difference(step, state, results) for step in state.plan.steps]


async def _ask(state: Survey, asked: list[Step], results: dict[Ref, Manifest | None], cluster: Cluster) -> dict[Ref, Manifest]:
    """Asks the server what would be there, for the steps that it accepts; steps say what the server said."""
    from applier.run.dry_run import settle, try_results, try_steps  # most runs of this need no request for an object, and start sooner

    over = {step.ref: result for step in asked if (result := results[step.ref]) is not None and _takes_over(step, state)}
    answers = await try_results(state.plan, over, state.graph, cluster)
    answers |= await try_steps(state.plan, [step for step in asked if step.ref not in over], state.graph, cluster)
    hidden = {ref: hide_secrets(answer) for ref, answer in answers.items()}
    for step in asked:
        live = state.plan.live.get(step.ref)
        if live is not None and step.ref in hidden and step.action is not Action.RECREATED:
            try:
                settle(step, live, hidden[step.ref], state.schemas.get(Kind.of(state.graph.objects[step.ref].manifest)))
            except Exception as error:  # as above, for one object only
                step.action, step.reason = Action.FAILED, f"cannot be compared: {type(error).__name__}: {error}"
    return hidden


def _takes_over(step: Step, state: Survey) -> bool:
    live, intent = state.plan.live.get(step.ref), state.plan.intent
    return step.action is Action.CONFIGURED and live is not None and bool(ownership_patch(live, intent.manager, intent.take_over))


def _difference(step: Step, state: Survey, results: dict[Ref, Manifest | None]) -> Difference:
    live = state.plan.live.get(step.ref)
    if step.action is Action.PRUNED:
        return Difference(step, live, None)
    return Difference(step, live, results.get(step.ref) if step.action in WRITTEN else live)


def _worked_out(step: Step, state: Survey, now: str) -> Manifest | None:
    """Returns the object as it would be. What its schema does not allow makes the step fail, with what the server would say."""
    desired = state.graph.objects[step.ref]
    try:
        if is_secret(desired.manifest) and (schema := state.schemas.get(Kind.of(desired.manifest))) is not None:
            check(schema, prepared(desired.manifest, schema))  # here, since hashes are texts whatever they stand for
        return _merged(step, desired, state, now)
    except (Invalid, Misfit) as error:
        step.action, step.reason = Action.FAILED, f"the server would refuse it: {error}"
    except Exception as error:  # whatever a strange object does to a comparison, it must not hide the others
        step.action, step.reason = Action.FAILED, f"cannot be compared: {type(error).__name__}: {error}"
    return None


def _merged(step: Step, desired: Desired, state: Survey, now: str) -> Manifest | None:
    """Merges here; gives None when the server would have to be asked. Raises `Invalid`."""
    intent, schema, live = state.plan.intent, state.schemas.get(Kind.of(desired.manifest)), state.plan.live.get(step.ref)
    if live is None or step.action is not Action.CONFIGURED:
        wanted = hide_secrets(prepared(desired.manifest, schema))
        if schema is None:
            return wanted if step.action is Action.CREATED else None
        return merged(wanted, None, schema, manager=intent.manager, now=now)
    if schema is None or step.intent is None:
        return None
    over = after_takeover(live, ownership_patch(live, intent.manager, intent.take_over))
    may = {*intent.force, *desired.policy.force}
    try:
        return merged(step.intent, over, schema, manager=intent.manager, now=now, force=may)
    except FieldConflict:
        return None
