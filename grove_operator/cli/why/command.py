"""`grove why`: what a set, a gang, a clique or a pod waits for, in a cluster or in a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from grove_operator.cli import output as outputs
from grove_operator.cli.cluster import session as sessions
from grove_operator.cli.cluster.options import GIVEN, Target, optional_namespace
from grove_operator.cli.cluster.session import Reported, Session
from grove_operator.cli.options import FILES, rules_option, text_or_json_option

if TYPE_CHECKING:
    from grove_compiler.step import Context
    from grove_operator.cli.operator.existing import Existing

WAITS, WRONG = 1, 2


@click.command(
    "why",
    epilog="""\b
Examples:
  grove why qwen                           why a PodCliqueSet is not ready
  grove why pod/qwen-0-decode-x7k2p        why a pod is gated, pending or not ready
  grove why pg/qwen-0 -n inference         why a gang is not complete
  grove why qwen --snapshot now.yaml       the same from recorded objects

\b
Exit codes: 0 it waits for nothing, 1 it waits, 2 not there, or something is wrong.""",
)
@click.argument("name", metavar="[KIND/]NAME")
@click.option("-n", "--namespace", default="", metavar="NAME", type=GIVEN, callback=optional_namespace, help="Its namespace.")
@click.option("--kubeconfig", default="", metavar="FILE", type=GIVEN, help="How to log in.")
@click.option("--context", default="", metavar="NAME", type=GIVEN, help="The kubeconfig's context.")
@click.option("--snapshot", metavar="FILE", type=FILES, help="Look at objects in a file, as `kubectl get -o yaml` prints them.")
@click.option("--config", metavar="FILE", type=GIVEN, help="The OperatorConfiguration, or a ConfigMap with it.")
@rules_option
@text_or_json_option
def command(
    name: str,
    namespace: str,
    kubeconfig: str,
    context: str,
    snapshot: str | None,
    config: str | None,
    rules: tuple[str, ...],
    output: str,
) -> int:
    """Say what an object waits for, since when, and what would end it, down to the last cause.

    NAME is a PodCliqueSet unless a kind stands before it, as kubectl writes kinds. Nothing is written to the cluster.
    """
    if snapshot:
        return _of_file(snapshot, name, namespace, config, rules, output)

    async def work(session: Session) -> int:
        from grove_operator.cli.operator.existing import in_cluster
        from grove_operator.cli.operator.given import read_given
        from grove_operator.controller.operator import settings_of
        from grove_operator.controller.served_shape import served_shape

        given = read_given(config, rules)
        shared = given.context(settings_of(await session.version(), await served_shape(session.cluster)))
        existing = await in_cluster(session.cluster, shared, session.namespace)
        return _tell(name, session.namespace, existing, shared, output)

    return sessions.run(work, Target(namespace=namespace, kubeconfig=kubeconfig, context=context))


def _of_file(snapshot: str, name: str, namespace: str, config: str | None, rules: Sequence[str], output: str) -> int:
    from applier.errors import ApplierError
    from grove_operator.cli.operator.existing import in_file
    from grove_operator.cli.operator.given import read_given
    from grove_operator.cli.operator.run import RECORDED_KUBE_VERSION
    from grove_operator.controller.operator import settings_of

    try:
        shared = read_given(config, rules).context(settings_of(RECORDED_KUBE_VERSION, None))
        return _tell(name, namespace, in_file(snapshot), shared, output)
    except ApplierError as error:
        sessions.say(f"error: {error}")
        return WRONG
    except Reported:
        return WRONG


def _tell(name: str, namespace: str, existing: Existing, context: Context, output: str) -> int:
    from applier.ref import Ref
    from grove_operator.cli.why.as_text import why_text, why_value
    from grove_operator.cluster.why import reasons
    from grove_operator.cluster.why_query import find
    from grove_operator.controller.waiting import waits_of
    from grove_operator.terminal import terminal_of

    now = time.time()
    asked, set = find(name, namespace, existing.objects)
    root = Ref.of(asked)
    found = reasons(root, waits_of(set, existing.objects, existing.unserved, context, now, asked))
    if output == "json":
        report: dict[str, Any] = {"kind": root.kind, "namespace": root.namespace, "name": root.name, "waits": why_value(found)}
        outputs.write([outputs.json_report(report)])
    else:
        outputs.write([outputs.encoded(why_text(root, found, now, terminal_of(sys.stdout)))])
    return WAITS if found else 0
