"""Computes what an apply would change, without applying."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from applier.cluster import Cluster
from applier.decision import hide_secrets, merged, prepared
from applier.decision.intent import is_secret
from applier.decision.managers import after_takeover, ownership_patch
from applier.decision.values import SchemaMismatch, check
from applier.desired import Desired, Graph
from applier.errors import FieldConflict, Invalid
from applier.outcome import WRITTEN, Action, Step
from applier.plan.holding import hold_back
from applier.ref import Kind, Manifest, Ref
from applier.run.live_state import PreparedApply, survey
from applier.run.options import ApplyOptions


class Difference(NamedTuple):
    """Holds one object as it is and as it would be. None means no object; `merged` is also None if the result cannot be predicted."""

    step: Step
    live: Manifest | None
    merged: Manifest | None


async def diff(graph: Graph, cluster: Cluster, options: ApplyOptions, *, ask_server: bool = False) -> list[Difference]:
    """Returns what an apply would change: one entry for each object in the order of writing, unchanged ones included.

    Results are computed here as far as possible. The others come from a dry run on the server; with `ask_server`, those of all objects that
    would be written do. Objects that would not be written are never sent, nor are Secrets whose ownership is taken over: a dry run of
    these would need their values, which are hidden here. Steps get the result of their dry run. Values of Secrets are hidden. The objects
    that the plan of a set prunes come last. Raises what `survey` does.
    """
    state = await survey(graph, cluster, options)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    results = {step.ref: _predict(step, state, now) for step in state.plan.steps if step.action in WRITTEN}
    uncertain = [step for step in state.plan.steps if step.action in WRITTEN and (ask_server or step.unsure)]
    if uncertain:
        results |= await _dry_run(state, uncertain, results, cluster)
    hold_back(state.plan)  # again, since predictions and dry runs may have failed steps that others depend on
    return [_difference(step, state, results) for step in state.plan.steps]


async def _dry_run(state: PreparedApply, steps: list[Step], results: dict[Ref, Manifest | None], cluster: Cluster) -> dict[Ref, Manifest]:
    """Returns the results of a dry run on the server, for the steps that it accepts; updates the steps."""
    from applier.run.dry_run import try_results, try_steps, update_step  # most diffs need no dry run, and start faster without

    takeovers = {step.ref: result for step in steps if (result := results[step.ref]) is not None and _takes_over(step, state)}
    answers = await try_results(state.plan, takeovers, state.graph, cluster)
    answers |= await try_steps(state.plan, [step for step in steps if step.ref not in takeovers], state.graph, cluster)
    hidden = {ref: hide_secrets(answer) for ref, answer in answers.items()}
    for step in steps:
        live = state.plan.live.get(step.ref)
        if live is not None and step.ref in hidden and step.action is not Action.RECREATED:
            try:
                update_step(step, live, hidden[step.ref], state.schemas.get(Kind.of(state.graph.objects[step.ref].manifest)))
            except Exception as error:  # an object that cannot be compared must not hide the others
                step.action, step.reason = Action.FAILED, f"cannot be compared: {type(error).__name__}: {error}"
    return hidden


def _takes_over(step: Step, state: PreparedApply) -> bool:
    live, intent = state.plan.live.get(step.ref), state.plan.intent
    if live is None or step.action is not Action.CONFIGURED:
        return False
    policy = state.graph.objects[step.ref].policy
    return bool(ownership_patch(live, intent.manager_of(policy), intent.taken_over(policy)))


def _difference(step: Step, state: PreparedApply, results: dict[Ref, Manifest | None]) -> Difference:
    live = state.plan.live.get(step.ref)
    if step.action is Action.PRUNED:
        return Difference(step, live, None)
    return Difference(step, live, results.get(step.ref) if step.action in WRITTEN else live)


def _predict(step: Step, state: PreparedApply, now: str) -> Manifest | None:
    """Returns the object as it would be; None if that cannot be predicted. A violation of the schema fails the step."""
    desired = state.graph.objects[step.ref]
    try:
        if is_secret(desired.manifest) and (schema := state.schemas.get(Kind.of(desired.manifest))) is not None:
            check(schema, prepared(desired.manifest, schema))  # before values are hidden: a hash is a string, whatever type the value had
        return _merged(step, desired, state, now)
    except (Invalid, SchemaMismatch) as error:
        step.action, step.reason = Action.FAILED, f"the server would reject it: {error}"
    except Exception as error:  # an object that cannot be compared must not hide the others
        step.action, step.reason = Action.FAILED, f"cannot be compared: {type(error).__name__}: {error}"
    return None


def _merged(step: Step, desired: Desired, state: PreparedApply, now: str) -> Manifest | None:
    """Merges without a request; None if only the server can. Raises `Invalid`."""
    intent, schema, live = state.plan.intent, state.schemas.get(Kind.of(desired.manifest)), state.plan.live.get(step.ref)
    manager = intent.manager_of(desired.policy)
    if live is None or step.action is not Action.CONFIGURED:
        created = hide_secrets(prepared(desired.manifest, schema))
        if schema is None:
            return created if step.action is Action.CREATED else None
        return merged(created, None, schema, manager=manager, now=now)
    if schema is None or step.intent is None:
        return None
    base = after_takeover(live, ownership_patch(live, manager, intent.taken_over(desired.policy)))
    force = {*intent.may_take_from(desired.policy)}
    try:
        return merged(step.intent, base, schema, manager=manager, now=now, force=force)
    except FieldConflict:
        return None
