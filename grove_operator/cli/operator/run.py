"""`grove operator run`: the loop in the cluster."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from typing import TYPE_CHECKING

import click

from grove_operator.cli.cluster.options import GIVEN, Target, optional_namespace
from grove_operator.cli.cluster.session import ERROR, Reported, Session, program_of, run
from grove_operator.cli.options import rules_option

if TYPE_CHECKING:
    from applier.loop import Lease
    from applier.stop import Stop
    from grove_compiler.source.document import Document
    from grove_compiler.step import Context
    from grove_operator.controller.operator import Operator

POD_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
COLLECT_AFTER = 50_000
"""Allocations between two collections of garbage. What the cache holds stays, and to look through it every 700 allocations, as Python does
unless told, takes time for nothing."""
GRACE = 20.0
"""Seconds for what is in work when a signal comes; Kubernetes kills a pod after 30."""


@click.command(
    "run",
    epilog="""\b
Examples:
  grove operator run                                    in a pod, for the whole cluster
  grove operator run --config operator.yaml -n team-a   from a desk, for one namespace

\b
Exit codes: 0 stopped by a signal, 2 a wrong configuration or rule, or a cluster that cannot be read.""",
)
@click.option("--config", metavar="FILE", type=GIVEN, help="The OperatorConfiguration, or a ConfigMap with it.")
@rules_option
@click.option(
    "-n", "--namespace", default="", metavar="NAME", type=GIVEN, callback=optional_namespace, help="Look after one namespace only."
)
@click.option("--kubeconfig", default="", metavar="FILE", type=GIVEN, help="How to log in; in a pod, its service account.")
@click.option("--context", default="", metavar="NAME", type=GIVEN, help="The kubeconfig's context.")
@click.option("--workers", default=0, type=click.IntRange(min=0), metavar="N", help="Keys in work at a time (16).")
def command(config: str | None, rules: tuple[str, ...], namespace: str, kubeconfig: str, context: str, workers: int) -> int:
    """Make the cluster what its PodCliqueSets say, and keep it so.

    It makes what `grove compile` prints, with Pods, lifts their gates when a gang is whole, and reports in the statuses.
    """
    gc.set_threshold(COLLECT_AFTER, 20, 100)

    async def work(session: Session) -> int:
        from applier.stop import Stop, ended_by_signal
        from grove_compiler.model.inputs.settings import Settings
        from grove_compiler.step import Context
        from grove_operator.controller.log import Log
        from grove_operator.controller.operator import WORKERS, Operator, Options

        # What is wrong with files is told before anything is asked of a server, which may not be there.
        document, program = _configuration(config) if config else None, program_of(rules)
        settings = Settings(pods=True, kube_version=await session.version())
        shared = Context(program, settings, document)
        _refuse_errors(shared)
        log = Log(sys.stderr, shared.config.manifest)
        options = Options(namespace, _lease(session, shared), workers or WORKERS, on_result=log.result)
        operator = Operator(session.cluster, shared, time.time, options)
        log.line("started", rules=len(shared.program.rules), kubernetes=settings.kube_version, namespace=namespace or "all")
        stop = Stop()
        with ended_by_signal(stop):
            await _until(stop, operator)
        log.line("stopped")
        return 0

    return run(work, Target(namespace=namespace, kubeconfig=kubeconfig, context=context), long=True, findings=ERROR)


async def _until(stop: Stop, operator: Operator) -> None:
    """Runs the operator until a signal comes. Raises what ends it before."""
    running, signalled = asyncio.ensure_future(operator.run()), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((running, signalled), return_when=asyncio.FIRST_COMPLETED)
        operator.stop(GRACE)
        await running
    finally:
        signalled.cancel()


def _configuration(path: str) -> Document:
    """The configuration's document. Raises `Reported` after findings about it were printed."""
    from grove_operator import findings
    from grove_operator.reading.inputs import InputReader

    reader = InputReader()
    document = reader.configuration(path)
    if document is None:
        findings.write(reader.problems, reader.find_file, sys.stderr)
        raise Reported
    return document


def _refuse_errors(context: Context) -> None:
    """Prints what is wrong with the configuration. Raises `Reported` where it cannot be run with."""
    from grove_compiler.graph.diagnostic import has_errors
    from grove_operator import findings
    from grove_operator.reading.inputs import InputReader

    findings.write(context.findings, InputReader().find_file, sys.stderr)
    if has_errors(context.findings):
        raise Reported


def _lease(session: Session, context: Context) -> Lease | None:
    """The lease that the configuration asks for (`leaderElection`, shipped semantics §1.13); none where it does not."""
    asked = context.config.manifest.get("leaderElection") or {}
    if not asked.get("enabled"):
        return None
    import socket
    import uuid

    from applier.loop import Lease, Timing
    from grove_compiler.kube import duration

    namespace = asked.get("resourceNamespace") or _own_namespace(session)
    seconds = (duration.parse(asked[name]) / duration.SECOND for name in ("leaseDuration", "renewDeadline", "retryPeriod"))
    identity = f"{socket.gethostname()}_{uuid.uuid4()}"
    return Lease(session.cluster, namespace, asked["resourceName"], identity, timing=Timing(*seconds))


def _own_namespace(session: Session) -> str:
    """The namespace of the pod that we run in; at a desk, that of the kubeconfig."""
    try:
        with open(POD_NAMESPACE, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return session.namespace
