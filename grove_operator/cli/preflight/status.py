"""`grove preflight status`: how the gangs of a cluster stand."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from grove_operator.cli import output as outputs
from grove_operator.cli.cluster.options import GIVEN, Target, login_options
from grove_operator.cli.cluster.session import ERROR, Session, run
from grove_operator.cli.options import text_or_json_option

if TYPE_CHECKING:
    from grove_operator.preflight.status import CheckState, GangState


@click.command(
    "status",
    epilog="""\b
Examples:
  grove preflight status
  grove preflight status -n training -o json | jq '.gangs[] | select(.state == "failed")'

\b
Exit codes: 0 no gang has failed, 1 one has, 2 the cluster cannot be read.""",
)
@click.option("-n", "--namespace", default="", metavar="NAME", type=GIVEN, help="Gangs of one namespace only.")
@login_options
@text_or_json_option
def command(namespace: str, kubeconfig: str, context: str, output: str) -> int:
    """Tell which gangs wait for pods, run their checks, passed or failed, with peers, times and bandwidths."""

    async def work(session: Session) -> int:
        from grove_compiler.preflight_gang import LABEL
        from grove_operator.preflight.gangs import COMPONENT, CONFIG_MAP, POD
        from grove_operator.preflight.status import gang_states

        cluster = session.cluster
        pods = await cluster.list(await cluster.resource(POD), namespace, labels=LABEL)
        config_maps = await cluster.list(await cluster.resource(CONFIG_MAP), namespace, labels=COMPONENT)
        gangs, now = gang_states(pods.items, config_maps.items), time.time()
        outputs.write([outputs.json_report({"gangs": [as_json(gang) for gang in gangs]})] if output == "json" else as_text(gangs, now))
        return 1 if any(gang.state == "failed" for gang in gangs) else 0

    return run(work, Target(kubeconfig=kubeconfig, context=context), findings=ERROR)


def as_text(gangs: Sequence[GangState], now: float) -> Iterator[bytes]:
    """Yields a line for each gang, and one for each of its pods that has not passed."""
    if not gangs:
        yield b"no pod waits for a gang\n"
    for gang in gangs:
        speed = f"  {min(gang.bandwidths):g} GB/s" if gang.bandwidths else ""
        age = f"  for {max(0, now - gang.since):.0f} s" if gang.since else ""
        line = f"{gang.namespace}/{gang.name}  {gang.state}  {gang.registered} of {gang.expected or '?'} pods{age}{speed}\n"
        yield outputs.encoded(line)
        for pod in gang.pods:
            if any(one.state != "passed" for one in pod.checks):
                checks = ", ".join(_check(one, now) for one in pod.checks)
                yield outputs.encoded(f"  {pod.name}  {pod.address or 'no address'}  {pod.node or 'no node'}  {checks}\n")


def _check(check: CheckState, now: float) -> str:
    """Returns one check in a few words: how it stands, for how long, how fast, and why it failed."""
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


def as_json(gang: GangState) -> dict[str, Any]:
    """Returns one gang for programs."""
    pods = [
        {"name": pod.name, "node": pod.node, "address": pod.address, "checks": [_check_as_json(one) for one in pod.checks]}
        for pod in gang.pods
    ]
    keys = {"namespace": gang.namespace, "name": gang.name, "state": gang.state, "since": gang.since}
    return keys | {"expected": gang.expected, "registered": gang.registered, "pods": pods}


def _check_as_json(check: CheckState) -> dict[str, Any]:
    measured = {"seconds": check.seconds, "gangWaitSeconds": check.gang_wait, "busBandwidthGBps": check.bandwidth}
    return {"name": check.name, "state": check.state, "exitCode": check.exit_code, "why": check.why} | measured
