"""`grove operator run`: the loop in the cluster."""

from __future__ import annotations

import gc

import click

from grove_operator.cli.cluster.options import GIVEN, Target, optional_namespace
from grove_operator.cli.cluster.session import ERROR, Reported, Session, run
from grove_operator.cli.operator.given import read_given
from grove_operator.cli.operator.relay import Relay
from grove_operator.cli.options import FILES, rules_option

COLLECT_AFTER = 50_000
"""Allocations between two collections of garbage. What the cache holds stays, and to look through it every 700 allocations, as Python does
unless told, takes time for nothing."""
RECORDED_KUBE_VERSION = "1.35"
"""Kubernetes' version where only its objects are known: the newest that this program is tested with."""


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
        from grove_operator.cli.operator.operate import operate
        from grove_operator.controller.operator import WORKERS, settings_of
        from grove_operator.controller.served_shape import served_shape

        # What is wrong with files is told before anything is asked of a server, which may not be there.
        given = read_given(config, rules, may_be_empty=True)
        shared = given.context(settings_of(await session.version(), mnnvl_shape or await served_shape(session.cluster)))
        if once:
            from grove_operator.cli.operator.once import of_a_cluster

            return await of_a_cluster(session.cluster, shared, namespace, output)
        return await operate(session, given, shared, heard, namespace, workers or WORKERS)

    heard = Relay()
    return run(work, Target(namespace=namespace, kubeconfig=kubeconfig, context=context), heard, long=not once, findings=ERROR)


def _once_recorded(snapshot: str, config: str | None, rules: tuple[str, ...], namespace: str, mnnvl_shape: str | None, output: str) -> int:
    from grove_operator.cli.operator.once import of_a_snapshot
    from grove_operator.controller.operator import settings_of

    try:
        shared = read_given(config, rules).context(settings_of(RECORDED_KUBE_VERSION, mnnvl_shape))
        return of_a_snapshot(snapshot, shared, namespace, output)
    except Reported:
        return ERROR
