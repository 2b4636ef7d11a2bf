"""Implements `grove operator run`."""

from __future__ import annotations

import click

from grove_cli.cluster.listeners import Relay
from grove_cli.cluster.options import login_options, operator_config_option, optional_namespace, text_option
from grove_cli.cluster.session import Session, attempt, run
from grove_cli.cluster.target import ClusterFlags
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.operator.start_files import live_context, read_start_files, recorded_context
from grove_cli.options import FILES, rules_option


@click.command(
    "run",
    epilog="""\b
Examples:
  grove operator run                                    in a pod, for the whole cluster
  grove operator run --config operator.yaml -n team-a   on a workstation, for one namespace
  grove operator run --once                             print what it would do now, without doing it
  grove operator run --once --snapshot now.yaml         the same for recorded objects

\b
Exit codes: 0 stopped by a signal, or to begin again since NVIDIA's driver was installed,
2 an invalid configuration or rule, or a cluster that cannot be read.
With --once, as for `grove diff`: 0 nothing to do, 1 something to do, 2 an error.""",
)
@operator_config_option
@rules_option
@text_option("-n", "--namespace", metavar="NAME", callback=optional_namespace, help="Watch one namespace only.")
@login_options
@click.option(
    "--mnnvl-shape",
    type=click.Choice(("as-proposed", "driver")),
    help="Form of ComputeDomains and claims. Default: the one that NVIDIA's driver accepts, or that the cluster serves.",
)
@click.option("--workers", default=0, type=click.IntRange(min=0), metavar="N", help="Concurrent reconciles (16).")
@click.option("--once", is_flag=True, help="Run once, print what would be written, and write nothing.")
@click.option("--snapshot", metavar="FILE", type=FILES, help="With --once: existing objects, as `kubectl get -o yaml` prints them.")
@click.option("-o", "--output", type=click.Choice(("text", "json")), default="text", help="With --once: the output format.")
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
    """Reconcile the PodCliqueSets of the cluster.

    Creates what `grove compile` prints, including Pods, removes their gates when a gang is complete, and updates statuses.
    """
    if not once and (snapshot or output != "text"):
        raise click.UsageError("--snapshot and --output require --once")
    if snapshot:
        from grove_cli.operator.once import of_a_snapshot

        return attempt(lambda: of_a_snapshot(snapshot, recorded_context(config, rules, mnnvl_shape), namespace, output))

    async def work(session: Session) -> int:
        from grove_cli.operator.first_contact import first_answer
        from grove_cli.operator.operate import operate
        from grove_operator.controller.operator import WORKERS

        # Errors in files are reported before the server is contacted, which may be unreachable.
        files = read_start_files(config, rules, may_be_empty=True)
        if once:
            from grove_cli.operator.once import of_a_cluster

            return await of_a_cluster(session, await live_context(files, session, mnnvl_shape), namespace, output)
        shared = await first_answer(lambda: live_context(files, session, mnnvl_shape))
        return await operate(session, files, shared, relay, namespace, workers or WORKERS, is_discovered=mnnvl_shape is None)

    relay = Relay()
    return run(work, ClusterFlags(namespace=namespace, kubeconfig=kubeconfig, context=context), relay, long=not once, findings=EXIT_ERROR)
