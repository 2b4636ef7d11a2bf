"""Implements `grove adopt`: transfers the ownership of fields, and changes nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import click

from applier.cluster import Cluster
from applier.desired import Desired, Graph
from applier.events import nowhere
from applier.outcome import UNDONE
from applier.ref import Kind, Manifest
from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.input import ClusterInput
from grove_cli.cluster.lines import CLIENT, OutcomeLines
from grove_cli.cluster.listeners import listening
from grove_cli.cluster.options import field_manager_option, input_options, journal_option, take_input, target_options, text_option
from grove_cli.cluster.session import Session
from grove_cli.cluster.target import take_target
from grove_cli.cluster.words import Folding, outcomes_report
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.options import text_or_json_option
from grove_cli.terminal import terminal_of
from grove_compiler.labels import MANAGED
from grove_operator import field_managers

MADE = (
    Kind("grove.io", "v1alpha1", "PodClique"),
    Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup"),
    Kind("scheduler.grove.io", "v1alpha1", "PodGang"),
    Kind("", "v1", "Service"),
    Kind("", "v1", "ServiceAccount"),
    Kind("autoscaling", "v2", "HorizontalPodAutoscaler"),
)
"""The kinds that the operator updates. Pods, Secrets and roles are created once and never changed, whoever owns their fields."""
SERVER_FIELDS = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "selfLink")


@click.command(
    "adopt",
    epilog="""\b
Examples:
  grove adopt manifests/ --from helm                            take over what Helm applied
  grove adopt deploy.yaml --from kubectl-client-side-apply      from kubectl apply without --server-side
  grove adopt workload.yaml --from helm --dry-run               what would be taken over
  grove adopt --from grove-operator                             what the upstream operator created, in the whole cluster

\b
Exit codes: 0 done, 1 findings, 2 an operation failed.""",
)
@input_options
@target_options
@text_option("--from", "managers", multiple=True, required=True, metavar="MANAGER", help="Field manager to take over from; repeatable.")
@field_manager_option("The field manager that takes them over.")
@click.option("--dry-run", is_flag=True, help="Have the server validate it without writing anything.")
@journal_option
@text_or_json_option
def command(managers: tuple[str, ...], field_manager: str, dry_run: bool, journal: str, output: str, **given: Any) -> int:
    """Take over fields from another field manager in the objects of FILE, without changing an object.

    Afterwards, grove apply has no conflicts with that manager, and removes fields that are no longer wanted. Only the ownership of
    fields is written, so nothing restarts. The other manager may still write to these objects: stop it first.
    Without FILE and from grove-operator: take over everything that the upstream operator created, for `grove operator run`.
    """
    target, options = take_target(given), take_input(given, required=field_managers.OPERATOR not in managers)
    source = ClusterInput(options, target.namespace, purpose="adopt") if options.files else None
    lines = OutcomeLines(terminal_of(sys.stdout), suffix=CLIENT if dry_run else "", words={"configured": "adopted"})

    async def work(session: Session) -> int:
        from applier.prune.adoption import adopt

        # Without files the objects of the upstream operator are adopted, under the field manager that both operators use.
        graph = await source.graph(session) if source else await made_by_operator(session.cluster, target.namespace)
        manager = field_manager if source else field_managers.OPERATOR
        outcomes = await adopt(graph, session.cluster, manager=manager, managers=managers, dry_run=dry_run, sink=sink)
        if output == "json":
            lines.rest([outcome for outcome in outcomes if outcome.action in UNDONE])
            outputs.write_report(outcomes_report(outcomes))
        else:
            lines.rest([outcome for outcome in outcomes if outcome.uid])
            missing = Folding()
            for outcome in outcomes:
                if not outcome.uid:
                    missing.add(outcome.step.ref, f"{outcome.reason}, so there is nothing to take over")
            missing.end()
        return EXIT_ERROR if any(outcome.action in UNDONE for outcome in outcomes) else 0

    with listening(nowhere, journal, "adopt") as sink:
        return sessions.run(work, target, sink)


async def made_by_operator(cluster: Cluster, namespace: str) -> Graph:
    """Returns the objects of an operator in a namespace, or in all if it is empty. Raises `ClusterError`."""
    from applier.cache import Query, read_once

    live = await read_once(cluster, [Query(kind, namespace, labels=MANAGED) for kind in MADE], labels=MANAGED)
    return Graph(list(_desired(live.objects.values())))


def _desired(objects: Iterable[Manifest]) -> Iterable[Desired]:
    for manifest in objects:
        metadata = {key: value for key, value in manifest["metadata"].items() if key not in SERVER_FIELDS}
        yield Desired({**{key: value for key, value in manifest.items() if key != "status"}, "metadata": metadata})
