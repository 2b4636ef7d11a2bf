"""A plan carried out: wave by wave, in parallel inside each, past failures to everything that does not depend on them."""

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
from applier.execute.requests import NoOwner, Run, StillThere
from applier.execute.write import Written, carry_out
from applier.outcome import WRITTEN, Action, Outcome, Step
from applier.plan import Plan
from applier.plan.holding import held_back
from applier.ref import DEFINITION, Kind, Manifest, Ref, uid_of
from applier.stop import STOPPED, Stopped

WORKERS = 256
"""Steps under way at once at most. Far fewer have a request in flight: the rest waits for its turn, or for a deleted object to go."""


async def execute(plan: Plan, graph: Graph, cluster: Cluster, options: ExecuteOptions | None = None) -> list[Outcome]:
    """Carries out a plan under its manager; an outcome for each step, in the order of the plan. Steps that prune are left to pruning.

    Nothing that goes wrong with an object is raised: it is the outcome of that object, and of those that depend on it. When the run is
    stopped, what is in flight is finished and the rest is held. Cancelling does the same and raises in the end; a second time, it
    breaks off.
    """
    run = Run(plan, graph, cluster, options or ExecuteOptions())
    # A barrier between waves, although most objects wait for few: what a crash leaves is a prefix of the plan, which people can understand.
    for number, steps in enumerate(plan.waves()):
        due = [step for step in steps if step.action is not Action.PRUNED]
        if due:
            run.options.sink(WaveStarted(number, len(due)))
            await _carry_out_wave(run, due)
    return [run.outcomes[step.ref] for step in plan.steps if step.ref in run.outcomes]


async def _carry_out_wave(run: Run, steps: Sequence[Step]) -> None:
    """Settles a wave: what needs no request at once, the rest in parallel."""
    due: deque[Step] = deque()
    for step in steps:
        if step.action not in WRITTEN:
            _settle(run, Outcome(step, step.action, step.reason, step.uid))
        elif why := held_back(step.ref, run.plan, run.outcomes, run.causes):
            _settle(run, Outcome(step, Action.HELD, why, step.uid))
        else:
            due.append(step)
    workers = [asyncio.create_task(_work(run, due)) for _ in range(min(len(due), WORKERS))]
    if workers:
        await _all(run, workers)


async def _all(run: Run, workers: Sequence[asyncio.Task[None]]) -> None:
    """Waits for all workers. When cancelled, lets them finish what they have begun, unless the run was to end already."""
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
    broken = [error for worker in workers if (error := worker.exception())]
    if broken:
        raise broken[0]


async def _work(run: Run, due: deque[Step]) -> None:
    while due:
        step = due.popleft()
        if run.options.stop.is_cancelled:
            _settle(run, Outcome(step, Action.HELD, STOPPED, step.uid))
        else:
            run.options.sink(Started(step))
            _settle(run, await _outcome(run, step))


async def _outcome(run: Run, step: Step) -> Outcome:
    """Carries one step out, and returns what became of it, whatever happens."""
    started = time.monotonic()
    error: Exception | None = None
    try:
        written = await _carry_out(run, step)
    except (StillThere, NoOwner, Stopped) as why:
        written = Written(Action.HELD, str(why) or STOPPED)
    except ApplierError as failure:
        written, error = Written(Action.FAILED, str(failure)), failure
    except Exception as failure:  # a fault of ours must not hide what became of the other objects
        written, error = Written(Action.FAILED, f"{type(failure).__name__}: {failure}"), failure
    if written.conflicts:
        step.conflicts = list(written.conflicts)
    uid = uid_of(written.live) if written.live else step.uid
    return Outcome(step, written.action, _reason(step, written), uid, time.monotonic() - started, error)


def _reason(step: Step, written: Written) -> str:
    """Returns what happened; and where that is what was meant, the reason of the plan, which says it best for what cannot be changed."""
    meant = step.reason if written.action is step.action else ""
    return meant or written.reason if written.action is Action.RECREATED else written.reason or meant


async def _carry_out(run: Run, step: Step) -> Written:
    desired = run.graph.objects[step.ref]
    if run.options.dry_run and (before := _missing_on_paper(run, step.ref)):
        return Written(step.action, f"not asked of the server: {before} does not exist yet")
    written = await carry_out(run, desired, step)
    if step.ref[:2] == DEFINITION and written.live is not None and written.action in WRITTEN:
        await _established(run, written.live)
    return written


async def _established(run: Run, definition: Manifest) -> None:
    """Waits until the server serves what a definition (CRD) defines, so that objects of it can follow.

    Raises `UnknownKind` with the reason when that takes too long.
    """
    if not run.options.dry_run:
        spec = definition["spec"]
        versions = [version["name"] for version in spec["versions"] if version.get("served")]
        kinds = [Kind(spec["group"], version, spec["names"]["kind"]) for version in versions]
        await run.cluster.await_established(kinds, run.options.timeouts.established)


def _missing_on_paper(run: Run, ref: Ref) -> Ref | None:
    """Returns, in a dry run, the namespace or definition that would be made by it, without which the server cannot be asked."""
    needed = [Ref("", "Namespace", "", ref.namespace), run.defined.get(ref[:2]), run.graph.objects[ref].owner]
    return next((other for other in needed if other is not None and run.is_new(other)), None)


def _settle(run: Run, outcome: Outcome) -> None:
    ref = outcome.step.ref
    run.outcomes[ref] = outcome
    if outcome.uid:
        run.uids[ref] = outcome.uid
    run.options.sink(Finished(outcome))
