"""What an apply would change, without applying."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from applier.cluster import Cluster
from applier.decision import decide, hide_secrets, merged, prepared
from applier.desired import Desired, Graph
from applier.errors import FieldConflict, Invalid
from applier.outcome import Action, Step
from applier.plan import CLIENT_SIDE, Plan
from applier.plan.owners import with_owner
from applier.plan.takeover import ownership_patch, taken_over
from applier.ref import Kind, Manifest, Ref, uid_of
from applier.run.reading import Survey, survey

WRITES = frozenset({Action.CREATED, Action.CONFIGURED, Action.RECREATED})


class Difference(NamedTuple):
    """One object as it is and as it would be; None where there is none, and `merged` also where nobody can say."""

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
) -> list[Difference]:
    """What an apply would change: one entry for each object in the order of writing, unchanged ones included.

    What can be decided here is. The rest is a dry run of the server's, and with `ask_server` all that would be written is. Steps take
    over what the server says. Values of Secrets are hidden. Raises `ClusterError` when something cannot be read, and `Cycle`.
    """
    found = await survey(graph, cluster, manager=manager, force=force, take_over=take_over)
    asked = [step for step in found.plan.steps if step.action in WRITES and (ask_server or step.unsure)]
    answers = await _ask(found.plan, asked, graph, cluster)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [_difference(step, graph, found, answers, now) for step in found.plan.steps]


async def _ask(plan: Plan, asked: list[Step], graph: Graph, cluster: Cluster) -> dict[Ref, Manifest]:
    """Lets the server try some steps without doing them; what would be there, for those that it accepts."""
    answers: dict[Ref, Manifest] = {}
    if not asked:
        return answers
    from applier.execute import execute  # most runs of this need no request for an object, and start sooner without it

    trial = Plan(asked, plan.intent, {}, {}, plan.found, plan.schemas)

    def keep(manifest: Manifest) -> None:
        answers[Ref.of(manifest)] = manifest

    for outcome in await execute(trial, graph, cluster, dry_run=True, after_write=keep):
        step = outcome.step
        step.action, step.reason, step.unsure = outcome.action, outcome.reason, False
    return answers


def _difference(step: Step, graph: Graph, found: Survey, answers: dict[Ref, Manifest], now: str) -> Difference:
    live = found.plan.found.get(step.ref)
    if step.action not in WRITES:
        return Difference(step, live, live)
    if step.ref in answers:
        return Difference(step, live, hide_secrets(answers[step.ref]))
    return Difference(step, live, _merged(step, graph.objects[step.ref], found, live, now))


def _merged(step: Step, desired: Desired, found: Survey, live: Manifest | None, now: str) -> Manifest | None:
    """What would be there, worked out here; None when the server would have to be asked."""
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
    may = {*intent.force, *desired.policy.force}
    decision = decide(wanted, over, schema, manager=intent.manager, yields=desired.policy.yields, force=may)
    try:
        return merged(decision.intent, over, schema, manager=intent.manager, now=now, force=may)
    except (FieldConflict, Invalid):
        return None


def _owner(found: Survey, owner: Ref) -> Manifest | None:
    """The live owner of an object, in the graph or outside; None also where nobody looked."""
    try:
        return found.live.get(owner)
    except KeyError:
        return None
