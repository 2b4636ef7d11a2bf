"""Runs the operator, and what is served beside it, from files that were read until a signal comes."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from applier.stop import Stop, ended_by_signal
from grove_operator.cli.garbage import spare_what_is_there
from grove_operator.cli.operator.admission import own_namespace, serve_beside, serves_webhooks
from grove_operator.cli.operator.configuration import tell_unused, with_defaults
from grove_operator.cli.operator.keeping import keeping
from grove_operator.cli.operator.reload import Files, Reload
from grove_operator.cli.operator.telemetry import Telemetry
from grove_operator.controller.announcements import Announcements
from grove_operator.controller.log import Log
from grove_operator.controller.operator import Operator, Options

if TYPE_CHECKING:
    from applier.loop import Lease
    from grove_compiler.step import Context
    from grove_operator.cli.cluster.session import Session
    from grove_operator.cli.operator.relay import Relay
    from grove_operator.cli.operator.start_files import StartFiles

GRACE = 20.0
"""Seconds for what is in work when a signal comes; Kubernetes kills a pod after 30."""

Beside = Callable[[], Coroutine[Any, Any, None]]


async def operate(session: Session, files: StartFiles, context: Context, heard: Relay, namespace: str, workers: int) -> int:
    """Returns 0 after a signal. Raises `ApplierError` where the cluster cannot be read, and `Failed` where webhooks cannot be served.

    `heard` hears of requests; `namespace` is the only one to look after, empty for all; `workers` are keys in work at a time.
    """
    log = Log(sys.stderr, context.config.manifest)
    # Without a file, as at a desk, nothing is served: two of them would want the same ports.
    telemetry = Telemetry(context.config.manifest if files.path else {}, log, heard)
    options = Options(
        namespace,
        _lease(session, context),
        workers,
        sink=heard,
        on_look=telemetry.look,
        on_result=telemetry.result,
        on_wait=telemetry.wait,
        on_work=telemetry.work,
        keeping=keeping(with_defaults(context).manifest["replay"], log),
    )
    spare_what_is_there()
    operator = Operator(session.cluster, context, time.time, options)
    log.line("started", rules=len(context.program.rules), kubernetes=context.settings.kube_version, namespace=namespace or "all")
    tell_unused(files.document, log, with_webhooks=serves_webhooks(context))
    webhooks = partial(serve_beside, session, context, files.document, operator.cache, log) if serves_webhooks(context) else None
    told = Announcements(session.cluster, own_namespace(session), _lease_name(session, context), heard)
    reload = Reload(Files(files.folders, files.path), context, files.document, operator, log, telemetry.reloaded, announce=told.tell)
    stop = Stop()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, operator.recorder.hand_over)
    with ended_by_signal(stop):
        async with telemetry.serving(operator, session.cluster):
            looking = asyncio.create_task(reload.run(), name="files")
            try:
                await _until(stop, operator, webhooks)
            finally:
                looking.cancel()
    log.line("stopped")
    return 0


async def _until(stop: Stop, operator: Operator, beside: Beside | None) -> None:
    """Runs the operator, and what is to run `beside` it, until a signal comes. Raises what ends either of them before."""
    running, signalled = asyncio.ensure_future(operator.run()), asyncio.ensure_future(stop.wait())
    others = [signalled, *([asyncio.ensure_future(beside())] if beside else [])]
    try:
        await asyncio.wait((running, *others), return_when=asyncio.FIRST_COMPLETED)
        operator.stop(GRACE)
        await running
        for one in others:
            if one.done():
                one.result()
    finally:
        for one in others:
            one.cancel()
        await asyncio.gather(*others, return_exceptions=True)


def _lease(session: Session, context: Context) -> Lease | None:
    """Returns the lease that the configuration asks for (`leaderElection`, shipped semantics §1.13); none where it does not."""
    asked, name = context.config.manifest.get("leaderElection") or {}, _lease_name(session, context)
    if name is None:
        return None
    import socket
    import uuid

    from applier.loop import Lease, Timing
    from grove_compiler.kube import duration

    seconds = (duration.parse(asked[name]) / duration.SECOND for name in ("leaseDuration", "renewDeadline", "retryPeriod"))
    identity = f"{socket.gethostname()}_{uuid.uuid4()}"
    return Lease(session.cluster, *name, identity, timing=Timing(*seconds))


def _lease_name(session: Session, context: Context) -> tuple[str, str] | None:
    """Returns the namespace and the name of that lease."""
    asked = context.config.manifest.get("leaderElection") or {}
    return (asked.get("resourceNamespace") or own_namespace(session), asked["resourceName"]) if asked.get("enabled") else None
