"""`grove operator run`: the loop in the cluster."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import click

from grove_operator.cli.cluster.options import GIVEN, Target, optional_namespace
from grove_operator.cli.cluster.session import ERROR, Reported, Session, program_of, run
from grove_operator.cli.operator.admission import own_namespace, serve_beside, serves_webhooks
from grove_operator.cli.operator.configuration import read_configuration, refuse_errors, tell_unused
from grove_operator.cli.operator.relay import Relay
from grove_operator.cli.options import FILES, rules_option

if TYPE_CHECKING:
    from applier.loop import Lease
    from applier.stop import Stop
    from grove_compiler.step import Context
    from grove_operator.controller.operator import Operator

COLLECT_AFTER = 50_000
"""Allocations between two collections of garbage. What the cache holds stays, and to look through it every 700 allocations, as Python does
unless told, takes time for nothing."""
RECORDED_KUBE_VERSION = "1.35"
"""Kubernetes' version where only its objects are known: the newest that this program is tested with."""
GRACE = 20.0
"""Seconds for what is in work when a signal comes; Kubernetes kills a pod after 30."""


@click.command(
    "run",
    epilog="""\b
Examples:
  grove operator run                                    in a pod, for the whole cluster
  grove operator run --config operator.yaml -n team-a   from a desk, for one namespace
  grove operator run --once                             what it would do now, and do nothing
  grove operator run --once --snapshot now.yaml         the same for objects that were recorded

\b
Exit codes: 0 stopped by a signal, 2 a wrong configuration or rule, or a cluster that cannot be read.
With --once as those of `grove diff`: 0 nothing to do, 1 something to do, 2 something is wrong.""",
)
@click.option("--config", metavar="FILE", type=GIVEN, help="The OperatorConfiguration, or a ConfigMap with it.")
@rules_option
@click.option(
    "-n", "--namespace", default="", metavar="NAME", type=GIVEN, callback=optional_namespace, help="Look after one namespace only."
)
@click.option("--kubeconfig", default="", metavar="FILE", type=GIVEN, help="How to log in; in a pod, its service account.")
@click.option("--context", default="", metavar="NAME", type=GIVEN, help="The kubeconfig's context.")
@click.option(
    "--mnnvl-shape",
    type=click.Choice(("as-proposed", "driver")),
    help="Form of ComputeDomains and claims. Unless told: what NVIDIA's driver takes, or what is served.",
)
@click.option("--workers", default=0, type=click.IntRange(min=0), metavar="N", help="Keys in work at a time (16).")
@click.option("--once", is_flag=True, help="Look at everything once, print what would be written, and write nothing.")
@click.option("--snapshot", metavar="FILE", type=FILES, help="With --once: objects that exist, as `kubectl get -o yaml` prints them.")
@click.option("-o", "--output", type=click.Choice(("text", "json")), default="text", help="With --once: for people or for programs.")
def command(
    config: str | None,
    rules: tuple[str, ...],
    namespace: str,
    kubeconfig: str,
    context: str,
    mnnvl_shape: str | None,
    workers: int,
    once: bool,
    snapshot: str | None,
    output: str,
) -> int:
    """Make the cluster what its PodCliqueSets say, and keep it so.

    It makes what `grove compile` prints, with Pods, lifts their gates when a gang is whole, and reports in the statuses.
    """
    if not once and (snapshot or output != "text"):
        raise click.UsageError("--snapshot and --output go with --once: a look that writes nothing")
    gc.set_threshold(COLLECT_AFTER, 20, 100)
    if snapshot:
        return _once_recorded(snapshot, config, rules, namespace, mnnvl_shape, output)

    async def work(session: Session) -> int:
        from applier.stop import Stop, ended_by_signal
        from grove_compiler.step import Context
        from grove_operator.cli.operator.reload import Files, Reload
        from grove_operator.cli.operator.shown import Shown
        from grove_operator.controller.log import Log
        from grove_operator.controller.operator import WORKERS, Operator, Options, settings_of
        from grove_operator.controller.served_shape import served_shape

        # What is wrong with files is told before anything is asked of a server, which may not be there.
        document, program = read_configuration(config) if config else None, program_of(rules, may_be_empty=True)
        settings = settings_of(await session.version(), mnnvl_shape or await served_shape(session.cluster))
        shared = Context(program, settings, document)
        refuse_errors(shared)
        if once:
            from grove_operator.cli.operator.once import of_a_cluster

            return await of_a_cluster(session.cluster, shared, namespace, output)
        log = Log(sys.stderr, shared.config.manifest)
        # Without a file, as at a desk, nothing is served: two of them would want the same ports.
        shown = Shown(shared.config.manifest if config else {}, log, heard)
        options = Options(
            namespace,
            _lease(session, shared),
            workers or WORKERS,
            sink=heard,
            on_look=shown.look,
            on_result=shown.result,
            on_wait=shown.wait,
            on_work=shown.work,
        )
        operator = Operator(session.cluster, shared, time.time, options)
        log.line("started", rules=len(shared.program.rules), kubernetes=settings.kube_version, namespace=namespace or "all")
        tell_unused(document, log)
        stop = Stop()
        with ended_by_signal(stop):
            beside = serve_beside(session, shared, document, operator.cache, log) if serves_webhooks(shared) else None
            reload = Reload(Files(rules, config or ""), shared, document, operator, log, shown.reloaded)
            async with shown.serving(operator, session.cluster):
                looking = asyncio.create_task(reload.run(), name="files")
                try:
                    await _until(stop, operator, beside)
                finally:
                    looking.cancel()
        log.line("stopped")
        return 0

    heard = Relay()
    return run(work, Target(namespace=namespace, kubeconfig=kubeconfig, context=context), heard, long=not once, findings=ERROR)


def _once_recorded(snapshot: str, config: str | None, rules: tuple[str, ...], namespace: str, mnnvl_shape: str | None, output: str) -> int:
    from grove_compiler.step import Context
    from grove_operator.cli.operator.once import of_a_snapshot
    from grove_operator.controller.operator import settings_of

    try:
        document, program = read_configuration(config) if config else None, program_of(rules)
        shared = Context(program, settings_of(RECORDED_KUBE_VERSION, mnnvl_shape), document)
        refuse_errors(shared)
        return of_a_snapshot(snapshot, shared, namespace, output)
    except Reported:
        return ERROR


async def _until(stop: Stop, operator: Operator, beside: Coroutine[Any, Any, None] | None) -> None:
    """Runs the operator, and what is to run `beside` it, until a signal comes. Raises what ends either of them before."""
    running, signalled = asyncio.ensure_future(operator.run()), asyncio.ensure_future(stop.wait())
    others = [signalled, *([asyncio.ensure_future(beside)] if beside else [])]
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
    """The lease that the configuration asks for (`leaderElection`, shipped semantics §1.13); none where it does not."""
    asked = context.config.manifest.get("leaderElection") or {}
    if not asked.get("enabled"):
        return None
    import socket
    import uuid

    from applier.loop import Lease, Timing
    from grove_compiler.kube import duration

    namespace = asked.get("resourceNamespace") or own_namespace(session)
    seconds = (duration.parse(asked[name]) / duration.SECOND for name in ("leaseDuration", "renewDeadline", "retryPeriod"))
    identity = f"{socket.gethostname()}_{uuid.uuid4()}"
    return Lease(session.cluster, namespace, asked["resourceName"], identity, timing=Timing(*seconds))
