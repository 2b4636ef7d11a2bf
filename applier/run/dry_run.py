"""What the server would make of objects, asked by dry runs."""

from __future__ import annotations

import asyncio
from typing import Any

from applier.cluster import Cluster
from applier.decision import hide_secrets
from applier.decision.fields import path_of
from applier.decision.intent import is_secret
from applier.decision.persisted_form import differences
from applier.decision.schema import Type
from applier.decision.server_side_apply import without_managed_fields
from applier.desired import Graph
from applier.errors import ClusterError
from applier.execute.executor import execute
from applier.execute.options import ExecuteOptions
from applier.execute.refusals import is_immutable
from applier.outcome import Action, FieldChange, Step
from applier.plan import Plan
from applier.plan.reasons import RECREATE, what_differs
from applier.ref import Kind, Manifest, Ref

AT_ONCE = 16
OURS = ("labels", "annotations", "finalizers", "ownerReferences")
"""The metadata that an apply may change."""


async def try_steps(plan: Plan, steps: list[Step], graph: Graph, cluster: Cluster) -> dict[Ref, Manifest]:
    """Lets the server try an apply of these steps, which take over what it says; what would be there, for those that it accepts."""
    answers: dict[Ref, Manifest] = {}
    trial = Plan(steps, plan.intent, live=plan.live, schemas=plan.schemas)

    def keep(manifest: Manifest) -> None:
        answers[Ref.of(manifest)] = manifest

    for outcome in await execute(trial, graph, cluster, ExecuteOptions(dry_run=True, after_write=keep)):
        step = outcome.step
        step.action, step.reason, step.unsure = outcome.action, outcome.reason, False
    return answers


async def try_results(plan: Plan, results: dict[Ref, Manifest], graph: Graph, cluster: Cluster) -> dict[Ref, Manifest]:
    """Lets the server try what was worked out for objects whose ownership is taken over.

    An apply cannot be tried there: it leaves what the other manager owns, since in a dry run nothing has been taken over. So the whole
    result is, as a patch, and the server validates it and fills in its defaults. The answers are those that it accepts.
    """
    answers: dict[Ref, Manifest] = {}
    steps = {step.ref: step for step in plan.steps}
    at_once = asyncio.Semaphore(AT_ONCE)

    async def one(ref: Ref, result: Manifest) -> None:
        step = steps[ref]
        step.unsure = False
        try:
            resource = await cluster.resource(Kind.of(graph.objects[ref].manifest))
            patch = patch_to(plan.live[ref], result)
            async with at_once:
                answers[ref] = await cluster.patch(resource, ref.namespace, ref.name, patch, manager=plan.intent.manager, dry_run=True)
        except ClusterError as error:
            fixed = is_immutable(error)
            step.action, step.reason = (Action.HELD, f"{error}; {RECREATE}") if fixed else (Action.FAILED, str(error))
        except Exception as error:  # one object's trouble ends no diff
            step.action, step.reason = Action.FAILED, f"cannot be tried: {type(error).__name__}: {error}"

    await asyncio.gather(*(one(ref, result) for ref, result in results.items() if not is_secret(result)))
    return answers


def patch_to(live: Manifest, result: Manifest) -> list[dict[str, Any]]:
    """Returns the JSON patch (RFC 6902) that makes an object what was worked out, apart from what only the server sets."""
    names = [name for name in dict.fromkeys((*live, *result)) if name not in ("apiVersion", "kind", "metadata", "status")]
    patch = [change for name in names if (change := _change(f"/{name}", live.get(name), result.get(name)))]
    before, after = live["metadata"], result["metadata"]
    return patch + [change for name in OURS if (change := _change(f"/metadata/{name}", before.get(name), after.get(name)))]


def _change(path: str, old: Any, new: Any) -> dict[str, Any]:
    if old == new:
        return {}
    return {"op": "remove", "path": path} if new is None else {"op": "add", "path": path, "value": new}


def settle(step: Step, live: Manifest, answer: Manifest, schema: Type | None) -> None:
    """Makes a step say what really differs between an object and what the server answered; `answer` has its Secrets hidden."""
    if schema is None:
        return
    owners = {change.path: change.owners for change in step.changes}
    differing = differences(without_managed_fields(hide_secrets(live)), without_managed_fields(answer), schema)
    step.changes = [FieldChange(path, one.old, one.new, owners.get(path, ())) for one in differing if (path := path_of(one.steps))]
    if step.action is Action.CONFIGURED:
        step.reason = what_differs(step.changes)
