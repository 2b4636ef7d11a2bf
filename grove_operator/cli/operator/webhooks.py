"""`grove operator webhooks`: admission, as a server."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from grove_operator.cli.cluster.options import GIVEN, Target
from grove_operator.cli.cluster.session import ERROR, INSTALL, Failed, Session, program_of, run
from grove_operator.cli.operator.configuration import read_configuration, refuse_errors
from grove_operator.cli.options import rules_option

if TYPE_CHECKING:
    from grove_operator.controller.log import Log
    from grove_operator.webhooks.review import Judge
    from grove_operator.webhooks.server import WebhookServer


@click.command(
    "webhooks",
    epilog="""\b
Examples:
  grove operator webhooks --config operator.yaml                        in a pod, with a mounted Secret of the type kubernetes.io/tls
  grove operator webhooks --cert-dir certificates --port 9443           from a desk

\b
Exit codes: 0 stopped by a signal, 2 a wrong configuration, rule or certificate, or a cluster that cannot be read.""",
)
@click.option("--config", metavar="FILE", type=GIVEN, help="The OperatorConfiguration, or a ConfigMap with it.")
@rules_option
@click.option("--cert-dir", default="", metavar="DIR", type=GIVEN, help="Where tls.crt and tls.key are, in place of the configuration's.")
@click.option("--port", default=None, type=click.IntRange(0, 65535), metavar="N", help="In place of the configuration's; 0 for any.")
@click.option("--kubeconfig", default="", metavar="FILE", type=GIVEN, help="How to log in; in a pod, its service account.")
@click.option("--context", default="", metavar="NAME", type=GIVEN, help="The kubeconfig's context.")
def command(config: str | None, rules: tuple[str, ...], cert_dir: str, port: int | None, kubeconfig: str, context: str) -> int:
    """Answer what an API server asks before it takes a PodCliqueSet or a topology.

    Defaults and findings are those of `grove lint`, all of them at once. Certificates are read again when their files change.
    """

    async def work(session: Session) -> int:
        from applier.cache import WatchCache
        from applier.loop import View
        from applier.stop import Stop, ended_by_signal
        from grove_compiler.model.inputs.settings import Settings
        from grove_compiler.step import Context
        from grove_operator.controller.live_objects import LiveObjects
        from grove_operator.controller.log import Log
        from grove_operator.controller.operator import watched
        from grove_operator.webhooks.review import Judge

        document, program = read_configuration(config) if config else None, program_of(rules)
        shared = Context(program, Settings(kube_version=await session.version()), document)
        refuse_errors(shared)
        log = Log(sys.stderr, shared.config.manifest)
        served = (shared.config.manifest.get("server") or {}).get("webhooks") or {}
        cache = WatchCache(session.cluster, watched("", shared.settings))
        server = _server(cert_dir or served.get("serverCertDir", ""), lambda: Judge(shared, document, LiveObjects(View(cache))), log)
        stop = Stop()
        await cache.start()
        try:
            with ended_by_signal(stop):
                bound = await server.start(served.get("bindAddress", ""), served.get("port", 0) if port is None else port)
                log.line("listening", port=bound)
                await stop.unless(cache.synced())
                server.is_ready = True
                log.line("ready", rules=len(program.rules), kubernetes=shared.settings.kube_version)
                await stop.wait()
        except OSError as error:
            raise Failed(f"cannot listen: {error.strerror or error}") from None
        finally:
            await server.stop()
            await cache.stop()
        log.line("stopped")
        return 0

    return run(work, Target(kubeconfig=kubeconfig, context=context), long=True, findings=ERROR)


def _server(folder: str, judge: Callable[[], Judge], log: Log) -> WebhookServer:
    """Returns a server with the certificate of a folder. Raises `Failed` where there is none, or aiohttp is not installed."""
    from grove_operator.webhooks.certificate import Certificate, NoCertificate

    try:
        from grove_operator.webhooks.server import WebhookServer

        return WebhookServer(judge, Certificate(folder), lambda text: log.line(text, "error"))
    except NoCertificate as error:
        raise Failed(str(error)) from None
    except ModuleNotFoundError as error:
        raise Failed(f"webhooks need {error.name}, which is not installed: {INSTALL.replace('cluster', 'cluster,webhooks')}") from None
