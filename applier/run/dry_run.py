"""Tries steps on the server by dry runs."""

from __future__ import annotations

import asyncio
from typing import Any

from applier.cluster import Cluster
from applier.decision import hide_secrets
from applier.decision.fields import path_of
from applier.decision.intent import is_secret
from applier.decision.persisted_form import differences
from applier.decision.schema import Type
from applier.desired import Graph
from applier.errors import ClusterError
from applier.execute.executor import execute
from applier.execute.options import ExecuteOptions
from applier.execute.refusals import is_immutable
from applier.outcome import Action, FieldChange, Step
from applier.plan import Plan
from applier.plan.reasons import RECREATE, what_differs
from applier.ref import Kind, Manifest, Ref
from kube_objects.manifest import without_managed_fields

AT_ONCE = 16  # requests in flight

APPLICABLE_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
"""The fields of `metadata` that an apply may change."""


async def try_steps(plan: Plan, steps: list[Step], graph: Graph, cluster: Cluster) -> dict[Ref, Manifest]:
    """Dry-runs these steps on the server and updates them; returns the resulting objects of those that it accepts."""
    answers: dict[Ref, Manifest] = {}
    trial = Plan(steps, plan.intent, live=plan.live, schemas=plan.schemas)

    def keep(manifest: Manifest) -> None:
        answers[Ref.of(manifest)] = manifest

    for outcome in await execute(trial, graph, cluster, ExecuteOptions(dry_run=True, after_write=keep)):
        step = outcome.step
        step.action, step.reason, step.unsure = outcome.action, outcome.reason, False
    return answers


async def try_results(plan: Plan, results: dict[Ref, Manifest], graph: Graph, cluster: Cluster) -> dict[Ref, Manifest]:
    """Dry-runs the predicted results of objects whose ownership is taken over; returns the objects that the server accepts.

    An apply cannot be tried for these: in a dry run nothing has been taken over, so that it would keep the fields of the other manager.
    Instead the whole predicted result is sent as a JSON patch, which the server validates and defaults.
    """
    answers: dict[Ref, Manifest] = {}
    steps = {step.ref: step for step in plan.steps}
    semaphore = asyncio.Semaphore(AT_ONCE)

    async def try_one(ref: Ref, result: Manifest) -> None:
        step = steps[ref]
        step.unsure = False
        try:
            resource = await cluster.resource(Kind.of(graph.objects[ref].manifest))
            patch = patch_to(plan.live[ref], result)
            async with semaphore:
                answers[ref] = await cluster.patch(resource, ref.namespace, ref.name, patch, manager=plan.intent.manager, dry_run=True)
        except ClusterError as error:
            immutable = is_immutable(error)
            step.action, step.reason = (Action.HELD, f"{error}; {RECREATE}") if immutable else (Action.FAILED, str(error))
        except Exception as error:  # an error of one object must not end the diff
            step.action, step.reason = Action.FAILED, f"cannot be validated:  {type(error).__name__}: {error}"

    await asyncio.gather(*(try_one(ref, result) for ref, result in results.items() if not is_secret(result)))
    return answers


def patch_to(live: Manifest, result: Manifest) -> list[dict[str, Any]]:
    """Returns the JSON patch (RFC 6902) from a live object to a predicted result, without fields that only the server sets."""
    names = [name for name in dict.fromkeys((*live, *result)) if name not in ("apiVersion", "kind", "metadata", "status")]
    patch = [change for name in names if (change := _change(f"/{name}", live.get(name), result.get(name)))]
    before, after = live["metadata"], result["metadata"]
    return patch + [change for name in APPLICABLE_METADATA if (change := _change(f"/metadata/{name}", before.get(name), after.get(name)))]


def _change(path: str, old: Any, new: Any) -> dict[str, Any]:
    if old == new:
        return {}
    return {"op": "remove", "path": path} if new is None else {"op": "add", "path": path, "value": new}


def update_step(step: Step, live: Manifest, answer: Manifest, schema: Type | None) -> None:
    """Sets the changes of a step to the differences between the live object and the server's answer, in which Secrets are hidden."""
    if schema is None:
        return
    owners = {change.path: change.owners for change in step.changes}
    differing = differences(without_managed_fields(hide_secrets(live)), without_managed_fields(answer), schema)
    step.changes = [FieldChange(path, one.old, one.new, owners.get(path, ())) for one in differing if (path := path_of(one.steps))]
    if step.action is Action.CONFIGURED:
        step.reason = what_differs(step.changes)
