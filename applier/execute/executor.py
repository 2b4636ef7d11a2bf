"""Executes a plan wave by wave, with the steps of a wave in parallel; a failure holds only what depends on it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from applier.cluster import Cluster
from applier.desired import Graph
from applier.errors import ApplierError
from applier.events import Finished, Started, WaveStarted
from applier.execute.options import ExecuteOptions
from applier.execute.requests import DeletionPending, Execution, OwnerMissing
from applier.execute.write import WriteResult, execute_step
from applier.outcome import WRITTEN, Action, Outcome, Step
from applier.plan import Plan
from applier.plan.holding import held_back
from applier.ref import DEFINITION, Kind, Manifest, Ref, uid_of
from applier.stop import STOPPED, Stopped

WORKERS = 256
"""The most steps in progress at once. Far fewer have a request in flight: the rest wait for a slot, or until a deleted object is gone."""


async def execute(plan: Plan, graph: Graph, cluster: Cluster, options: ExecuteOptions | None = None) -> list[Outcome]:
    """Executes a plan under its manager; returns an outcome for each step, in the order of the plan. Prune steps are skipped.

    An error of an object is not raised, but is the outcome of that object and of those that depend on it. When the run is stopped,
    requests in flight are finished and the other steps are held. Cancelling does the same and then raises; cancelling again aborts the
    requests in flight.
    """
    run = Execution(plan, graph, cluster, options or ExecuteOptions())
    # A barrier between waves, although most objects depend on few others: a crash leaves a prefix of the plan, which people can understand.
    for number, steps in enumerate(plan.waves()):
        writes = [step for step in steps if step.action is not Action.PRUNED]
        if writes:
            run.options.sink(WaveStarted(number, len(writes)))
            await _execute_wave(run, writes)
    return [run.outcomes[step.ref] for step in plan.steps if step.ref in run.outcomes]


async def _execute_wave(run: Execution, steps: Sequence[Step]) -> None:
    """Executes a wave: steps without a request at once, the others in parallel."""
    pending: deque[Step] = deque()
    for step in steps:
        if step.action not in WRITTEN:
            _record(run, Outcome.of(step))
        elif reason := held_back(step.ref, run.plan, run.outcomes, run.causes):
            _record(run, Outcome(step, Action.HELD, reason, step.uid))
        elif step.ref in run.options.overridden:
            _record(run, Outcome(step, Action.UNCHANGED, step.reason, step.uid))
        else:
            pending.append(step)
    workers = [asyncio.create_task(_work(run, pending)) for _ in range(min(len(pending), WORKERS))]
    if workers:
        await _join(run, workers)


async def _join(run: Execution, workers: Sequence[asyncio.Task[None]]) -> None:
    """Waits for all workers. When cancelled, lets them finish their requests in flight, unless the run was stopped already."""
    try:
        await asyncio.wait(workers)
    except asyncio.CancelledError:
        if not run.options.stop.is_cancelled:
            run.options.stop.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait(workers)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        raise
    errors = [error for worker in workers if (error := worker.exception())]
    if errors:
        raise errors[0]


async def _work(run: Execution, pending: deque[Step]) -> None:
    while pending:
        step = pending.popleft()
        if run.options.stop.is_cancelled:
            _record(run, Outcome(step, Action.HELD, STOPPED, step.uid))
        else:
            run.options.sink(Started(step))
            _record(run, await _outcome(run, step))


async def _outcome(run: Execution, step: Step) -> Outcome:
    """Executes one step and returns its outcome; any exception becomes one, too."""
    started = time.monotonic()
    error: Exception | None = None
    try:
        result = await _execute(run, step)
    except (DeletionPending, OwnerMissing, Stopped) as held:
        result = WriteResult(Action.HELD, str(held) or STOPPED)
    except ApplierError as failure:
        result, error = WriteResult(Action.FAILED, str(failure)), failure
    except Exception as failure:  # a bug of ours must not hide the outcomes of the other objects
        result, error = WriteResult(Action.FAILED, f"{type(failure).__name__}: {failure}"), failure
    if result.conflicts:
        step.conflicts = list(result.conflicts)
    step.obstacle = step.obstacle or result.obstacle
    uid = uid_of(result.live) if result.live else step.uid
    return Outcome(step, result.action, _reason(step, result), uid, time.monotonic() - started, error)


def _reason(step: Step, result: WriteResult) -> str:
    """Returns the reason of an outcome: that of the write, or that of the plan if the action is as planned.

    For a recreated object the plan's comes first: it names the immutable fields, where the server's error may not.
    """
    planned = step.reason if result.action is step.action else ""
    return planned or result.reason if result.action is Action.RECREATED else result.reason or planned


async def _execute(run: Execution, step: Step) -> WriteResult:
    desired = run.graph.objects[step.ref]
    if run.options.dry_run and (missing := _missing_in_dry_run(run, step.ref)):
        return WriteResult(step.action, f"not validated by the server: {missing} does not exist yet")
    result = await execute_step(run, desired, step)
    if step.ref[:2] == DEFINITION and result.live is not None and result.action in WRITTEN:
        await _wait_until_established(run, result.live)
    return result


async def _wait_until_established(run: Execution, definition: Manifest) -> None:
    """Waits until the server serves the kinds of a definition (CRD), so that objects of them can follow.

    Raises `UnknownKind` with the reason if that takes too long.
    """
    if not run.options.dry_run:
        spec = definition["spec"]
        versions = [version["name"] for version in spec["versions"] if version.get("served")]
        kinds = [Kind(spec["group"], version, spec["names"]["kind"]) for version in versions]
        await run.cluster.await_established(kinds, run.options.timeouts.established)


def _missing_in_dry_run(run: Execution, ref: Ref) -> Ref | None:
    """Returns the namespace, definition or owner of an object that only a real run would create, so that a dry run fails without it."""
    needed = [Ref("", "Namespace", "", ref.namespace), run.defined.get(ref[:2]), run.graph.objects[ref].owner]
    return next((other for other in needed if other is not None and run.is_new(other)), None)


def _record(run: Execution, outcome: Outcome) -> None:
    ref = outcome.step.ref
    run.outcomes[ref] = outcome
    if outcome.uid:
        run.uids[ref] = outcome.uid
    run.options.sink(Finished(outcome))
