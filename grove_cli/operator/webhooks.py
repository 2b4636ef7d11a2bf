"""Implements `grove operator webhooks`: serves admission reviews."""

from __future__ import annotations

import sys

import click

from grove_cli.cluster.options import login_options, operator_config_option, text_option
from grove_cli.cluster.session import Session, run
from grove_cli.cluster.target import ClusterFlags
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.garbage import freeze_existing
from grove_cli.operator.start_files import read_start_files
from grove_cli.options import rules_option


@click.command(
    "webhooks",
    epilog="""\b
Examples:
  grove operator webhooks --config operator.yaml                        in a pod; the configuration says where certificates come from
  grove operator webhooks --cert-dir certificates --port 9443           on a workstation

\b
Exit codes: 0 stopped by a signal, or to begin again since NVIDIA's driver was installed,
2 an invalid configuration, rule or certificate, or a cluster that cannot be read.""",
)
@operator_config_option
@rules_option
@text_option("--cert-dir", metavar="DIR", help="Directory with tls.crt and tls.key, instead of the configuration's.")
@click.option(
    "--port",
    default=None,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port, instead of the configuration's; 0 for any free port.",
)
@login_options
def command(config: str | None, rules: tuple[str, ...], cert_dir: str, port: int | None, kubeconfig: str, context: str) -> int:
    """Serve the admission webhooks for PodCliqueSets and topologies.

    Defaults and findings are those of `grove lint`. Certificates are self-signed, in a Secret that all replicas share, or come from
    externally managed files; both are reloaded without a restart.
    """

    async def work(session: Session) -> int:
        from applier.cache import WatchCache
        from applier.stop import Stop, ended_by_signal
        from grove_cli.operator.admission import admission, wait_for_cache
        from grove_cli.operator.first_contact import first_answer
        from grove_compiler.model.inputs.settings import Settings
        from grove_operator.controller.log import Log
        from grove_operator.controller.operator import driver_arrives, served_shape, watched

        async def settings() -> Settings:
            return Settings(kube_version=await session.version(), mnnvl_shape=await served_shape(session.cluster))

        files = read_start_files(config, rules, may_be_empty=True)
        shared = files.context(await first_answer(settings))
        freeze_existing()
        log = Log(sys.stderr, shared.config.manifest)
        session.warnings.tell = log.warning
        cache, stop = WatchCache(session.cluster, watched("", shared.settings)), Stop()
        with ended_by_signal(stop):
            async with admission(session, shared, cache, log, cert_dir=cert_dir, port=port) as webhooks:
                await cache.start()
                try:
                    await stop.unless(wait_for_cache(cache, log))
                    webhooks.ready()
                    log.line("ready", rules=len(files.program.rules), kubernetes=shared.settings.kube_version)
                    await stop.unless(driver_arrives(session.cluster, shared.settings))
                finally:
                    await cache.stop()
        log.line("stopped")
        return 0

    return run(work, ClusterFlags(kubeconfig=kubeconfig, context=context), long=True, findings=EXIT_ERROR)
