"""Implements `grove preflight status`: prints the states of gangs and of checks of pods without a gang."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from grove_cli import output as outputs
from grove_cli.cluster.options import login_options, text_option
from grove_cli.cluster.session import Session, run
from grove_cli.cluster.target import ClusterFlags
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.options import text_or_json_option

if TYPE_CHECKING:
    from grove_operator.preflight.status import CheckState, GangState, PodState


@click.command(
    "status",
    epilog="""\b
Examples:
  grove preflight status
  grove preflight status -n training -o json | jq '.gangs[] | select(.state == "failed")'

\b
Exit codes: 0 no check has failed, 1 one has, 2 the cluster cannot be read.""",
)
@text_option("-n", "--namespace", metavar="NAME", help="Pods of one namespace only.")
@login_options
@text_or_json_option
def command(namespace: str, kubeconfig: str, context: str, output: str) -> int:
    """Show the state of gangs (waiting, running, passed, failed) with peers, times and bandwidths.

    Pods without a gang are listed until their checks have passed.
    """

    async def work(session: Session) -> int:
        from applier.ref import CONFIG_MAP, POD
        from grove_compiler.preflight_result import LABEL
        from grove_operator.preflight.gangs import COMPONENT
        from grove_operator.preflight.status import gang_states, pod_states

        cluster = session.cluster
        pods = await cluster.list(await cluster.resource(POD), namespace, labels=LABEL)
        config_maps = await cluster.list(await cluster.resource(CONFIG_MAP), namespace, labels=COMPONENT)
        gangs = gang_states(pods.items, config_maps.items)
        alone = [pod for pod in pod_states(pods.items) if pod.state != "passed"]
        outputs.write([outputs.json_report(as_json(gangs, alone))] if output == "json" else as_text(gangs, alone, time.time()))
        states = [gang.state for gang in gangs] + [pod.state for pod in alone]
        return 1 if "failed" in states else 0

    return run(work, ClusterFlags(kubeconfig=kubeconfig, context=context), findings=EXIT_ERROR)


def as_text(gangs: Sequence[GangState], alone: Sequence[PodState], now: float) -> Iterator[bytes]:
    """Yields a line for each gang, for each of its pods that has not passed, and for each pod without a gang."""
    if not gangs and not alone:
        yield b"no pod waits for a gang, and no check runs or has failed\n"
    for gang in gangs:
        speed = f"  {min(gang.bandwidths):g} GB/s" if gang.bandwidths else ""
        wait = f"  waited {max(gang.waits):.0f} s" if gang.waits else ""
        line = f"{gang.namespace}/{gang.name}  {gang.state}  {gang.registered} of {gang.expected or '?'} pods{_age(gang.since, now)}"
        problem = f": {gang.problem}" if gang.problem else ""
        yield outputs.encoded(f"{line}{wait}{speed}{problem}\n")
        for pod in gang.pods:
            if pod.state != "passed":
                yield outputs.encoded(f"  {pod.name}  {pod.address or 'no address'}  {_checks(pod, now)}\n")
    for pod in alone:
        yield outputs.encoded(f"{pod.namespace}/{pod.name}  {pod.state}{_age(pod.since, now)}  {_checks(pod, now)}\n")


def _age(since: float, now: float) -> str:
    return f"  for {max(0, now - since):.0f} s" if since else ""


def _checks(pod: PodState, now: float) -> str:
    return f"{pod.node or 'no node'}  {', '.join(_check(check, now) for check in pod.checks)}"


def _check(check: CheckState, now: float) -> str:
    """Returns the state of a check with its duration, bandwidth and error."""
    words = f"{check.name} {check.state}"
    if check.exit_code:
        words += f" ({check.exit_code})"
    if check.seconds is not None:
        words += f" after {check.seconds:.0f} s"
    elif check.since:
        words += f" for {max(0, now - check.since):.0f} s"
    if check.bandwidth is not None:
        words += f" at {check.bandwidth:g} GB/s"
    return f"{words}: {check.why}" if check.why else words


def as_json(gangs: Sequence[GangState], alone: Sequence[PodState]) -> dict[str, Any]:
    """Returns gangs and pods as JSON, including pods that have passed."""
    return {"gangs": [_gang_as_json(gang) for gang in gangs], "pods": [_alone_as_json(pod) for pod in alone]}


def _gang_as_json(gang: GangState) -> dict[str, Any]:
    keys = {"namespace": gang.namespace, "name": gang.name, "state": gang.state, "since": gang.since}
    size = {"expected": gang.expected, "registered": gang.registered, "problem": gang.problem}
    return keys | size | {"pods": [_pod_as_json(pod) for pod in gang.pods]}


def _alone_as_json(pod: PodState) -> dict[str, Any]:
    return {"namespace": pod.namespace, "state": pod.state, "since": pod.since} | _pod_as_json(pod)


def _pod_as_json(pod: PodState) -> dict[str, Any]:
    return {"name": pod.name, "node": pod.node, "address": pod.address, "checks": [_check_as_json(check) for check in pod.checks]}


def _check_as_json(check: CheckState) -> dict[str, Any]:
    measured = {"seconds": check.seconds, "gangWaitSeconds": check.gang_wait, "busBandwidthGBps": check.bandwidth}
    return {"name": check.name, "state": check.state, "exitCode": check.exit_code, "why": check.why} | measured
