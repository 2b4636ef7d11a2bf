"""Implements `grove preflight controller`: the admission of pods and the gang controller in one process."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from grove_cli.cluster.options import login_options, text_option
from grove_cli.cluster.session import Failed, Session, needing, program_of, run
from grove_cli.cluster.target import ClusterFlags
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.garbage import freeze_existing
from grove_cli.options import preflight_values_option, rules_option
from grove_compiler.record import record

if TYPE_CHECKING:
    from grove_operator.preflight.process import Served


@click.command(
    "controller",
    epilog="""\b
Examples:
  grove preflight controller --values values.yaml --cert-secret preflight-injector-cert      in a pod
  grove preflight controller --values values.yaml --cert-dir certificates --metrics-port 9445
  grove preflight controller --kubeconfig config                        only gangs, on a workstation

\b
Exit codes: 0 stopped by a signal, 2 invalid values, rules or certificates, or a cluster that cannot be read.""",
)
@preflight_values_option("--values")
@rules_option
@text_option("--cert-dir", metavar="DIR", help="Directory with tls.crt and tls.key.")
@text_option("--cert-secret", metavar="NAME", help="Secret of our namespace for self-signed certificates.")
@click.option("--service", default="preflight-injector", show_default=True, metavar="NAME", help="Service of the webhook.")
@click.option(
    "--port", default=9443, show_default=True, type=click.IntRange(0, 65535), metavar="N", help="Port of the webhook; 0 for any free port."
)
@click.option(
    "--metrics-port", default=0, type=click.IntRange(0, 65535), metavar="N", help="Port of /metrics, over plain HTTP; 0 for none."
)
@login_options
def command(kubeconfig: str, context: str, **options: Any) -> int:
    """Inject checks into new pods, and maintain the ConfigMaps through which the pods of a gang find each other.

    The webhook serves /mutate-pod, with a certificate from files or a self-signed one; without either there is no webhook. Any number
    of replicas may run: they inject the same checks and write the same ConfigMaps.
    """

    async def work(session: Session) -> int:
        return await _control(session, PreflightOptions(**options))

    return run(work, ClusterFlags(kubeconfig=kubeconfig, context=context), long=True, findings=EXIT_ERROR)


@record
class PreflightOptions:
    """The options of the command."""

    values: str | None
    rules: tuple[str, ...]
    cert_dir: str
    cert_secret: str
    service: str
    port: int
    metrics_port: int


async def _control(session: Session, options: PreflightOptions) -> int:
    """Runs until a signal arrives. Raises `Failed` for invalid values, and addresses that it cannot listen on."""
    from applier.cache import WatchCache
    from applier.stop import Stop, ended_by_signal
    from grove_cli.preflight.values import values_of
    from grove_cli.reading.inputs import InputReader
    from grove_operator.preflight.gangs import WATCHED, ErrorLog, GangController
    from grove_operator.preflight.process import serve

    reader = InputReader()
    preflight = values_of(options.values, reader)
    if reader.problems:
        from grove_cli import findings

        findings.write(reader.problems, reader.find_file)
        raise Failed("the values are invalid")
    program = program_of(options.rules, may_be_empty=True)
    freeze_existing()
    served = _served(session, options)
    cache = WatchCache(session.cluster, WATCHED)
    controller, stop = GangController(session.cluster, preflight, program, cache, ErrorLog(say), session.clock), Stop()
    with ended_by_signal(stop):
        try:
            await serve(session.cluster, controller, preflight, program, served, stop, say)
        except OSError as error:
            raise Failed(str(error)) from None
    return 0


def _served(session: Session, options: PreflightOptions) -> Served:
    """Returns the servers of the options, for which libraries are imported lazily."""
    from grove_cli.operator.admission import own_namespace
    from grove_operator.preflight.process import Served

    served = Served(metrics_port=options.metrics_port)
    if options.cert_dir or options.cert_secret:
        from grove_operator.webhooks.service import Serving

        served.webhook = Serving("", options.port, options.cert_dir, own_namespace(session), options.cert_secret, options.service)
    if options.metrics_port:
        with needing("metrics need", "observe", otherwise="no --metrics-port"):
            from prometheus_client import CollectorRegistry

            from grove_operator.preflight.metrics import AdmissionMetrics, CheckMetrics
            from grove_operator.telemetry.server import metrics_listener
        registry = CollectorRegistry()
        served.metrics = metrics_listener(registry)
        served.answered = AdmissionMetrics(registry).answered
        began = monotonic()
        served.on_change = CheckMetrics(registry, lambda: session.clock() - (monotonic() - began))
    return served


def say(text: str) -> None:
    """Prints a line to standard error."""
    print(text, file=sys.stderr, flush=True)
