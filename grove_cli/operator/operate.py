"""Runs the operator, with its webhooks and telemetry, until a signal arrives."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from applier.stop import Stop, ended_by_signal
from grove_cli.garbage import freeze_existing
from grove_cli.operator.admission import own_namespace, serve_beside, serves_webhooks
from grove_cli.operator.configuration import log_unused, with_defaults
from grove_cli.operator.reload import Reload, Reports
from grove_cli.operator.replay_retention import replay_retention
from grove_cli.operator.telemetry import Telemetry
from grove_operator.controller.log import Log, OperatorEvents
from grove_operator.controller.operator import Operator, OperatorOptions, driver_arrives

if TYPE_CHECKING:
    from applier.loop import LeaseThread
    from grove_cli.cluster.listeners import Relay
    from grove_cli.cluster.session import Session
    from grove_cli.operator.start_files import StartFiles
    from grove_compiler.step import StepContext

GRACE = 20.0
"""Seconds for reconciliations in progress to end after a signal; Kubernetes kills a pod after 30."""

Background = Callable[[], Coroutine[Any, Any, None]]


async def operate(
    session: Session, files: StartFiles, context: StepContext, relay: Relay, namespace: str, workers: int, *, is_discovered: bool = False
) -> int:
    """Returns 0 after a signal. Raises `ApplierError` when the cluster cannot be read, and `Failed` when webhooks cannot be served.

    `relay` receives the events of requests; `namespace` limits the operator to one, empty for all; `workers` is the number of keys that are
    reconciled concurrently. Where the form of ComputeDomains `is_discovered`, it also returns 0 once NVIDIA's driver has been installed
    since, so that another process takes its place.
    """
    log = Log(sys.stderr, context.config.manifest)
    session.warnings.tell = log.warning
    # Without a configuration file, as during development, nothing is served: the ports may be in use by another operator.
    telemetry = Telemetry(context.config.manifest if files.path else {}, log, relay)
    options = OperatorOptions(
        namespace,
        _lease(session, context),
        workers,
        sink=relay,
        on_evaluate=telemetry.start,
        on_result=telemetry.result,
        on_wait=telemetry.wait,
        on_work=telemetry.work,
        retention=replay_retention(with_defaults(context).manifest["replay"], log),
    )
    freeze_existing()
    operator = Operator(session.cluster, context, session.clock, options)
    log.line("started", rules=len(context.program.rules), kubernetes=context.settings.kube_version, namespace=namespace or "all")
    log_unused(files.document, log, with_webhooks=serves_webhooks(context))
    beside = partial(serve_beside, session, context, operator.cache, log, telemetry.wait_for)
    others: list[Background] = [beside] if serves_webhooks(context) else []
    if is_discovered:
        others.append(partial(_driver_arrives, session, context, log))
    events = OperatorEvents(session.cluster, own_namespace(session), _lease_name(session, context), relay, session.clock)
    reports = Reports(log, telemetry.reloaded, events.record)
    reload = Reload(files, context, operator, reports)
    stop = Stop()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, operator.recorder.flush)
    with ended_by_signal(stop):
        async with telemetry.serving(operator, session.cluster):
            reloading = asyncio.create_task(reload.run(), name="files")
            try:
                await _until(stop, operator, others)
            finally:
                reloading.cancel()
    log.line("stopped")
    return 0


async def _driver_arrives(session: Session, context: StepContext, log: Log) -> None:
    await driver_arrives(session.cluster, context.settings)
    log.line("stopping", why="NVIDIA's driver has been installed", meanwhile="the next process uses its ComputeDomains")


async def _until(stop: Stop, operator: Operator, background: Sequence[Background]) -> None:
    """Runs the operator and what is beside it until a signal arrives, or one of them ends. Raises the error that ends one earlier."""
    running, signalled = asyncio.ensure_future(operator.run()), asyncio.ensure_future(stop.wait())
    others = [signalled, *(asyncio.ensure_future(each()) for each in background)]
    try:
        await asyncio.wait((running, *others), return_when=asyncio.FIRST_COMPLETED)
        operator.stop(GRACE)
        await running
        for task in others:
            if task.done():
                task.result()
    finally:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


def _lease(session: Session, context: StepContext) -> LeaseThread | None:
    """Returns the lease of the configuration (`leaderElection`, shipped semantics §1.13); none when it is not enabled."""
    election, name = context.config.manifest.get("leaderElection") or {}, _lease_name(session, context)
    if name is None:
        return None
    import socket
    import uuid

    from applier.loop import Lease, LeaseThread, Timing
    from grove_compiler.kube import duration

    seconds = (duration.parse(election[name]) / duration.SECOND for name in ("leaseDuration", "renewDeadline", "retryPeriod"))
    identity = f"{socket.gethostname()}_{uuid.uuid4()}"
    timing = Timing(*seconds)
    lease = partial(Lease, timing=timing, clock=session.clock)
    return LeaseThread(session.another, lambda cluster, on_change: lease(cluster, *name, identity, on_change=on_change))


def _lease_name(session: Session, context: StepContext) -> tuple[str, str] | None:
    """Returns namespace and name of the lease."""
    election = context.config.manifest.get("leaderElection") or {}
    return (election.get("resourceNamespace") or own_namespace(session), election["resourceName"]) if election.get("enabled") else None
