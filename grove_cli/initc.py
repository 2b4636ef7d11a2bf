"""Implements `grove initc`, the init container of pods that start after others."""

from __future__ import annotations

import os
import sys

import click

from grove_cli.exit_codes import EXIT_TERMINATED

POD_INFO = "/var/grove/pod-info"
"""The mount of the volume `pod-info-vol` of upstream Grove (§5.2), with the files `namespace` and `podgangname`."""


class RequirementParam(click.ParamType[tuple[str, int]]):
    """Parses `NAME:COUNT`: a PodClique, and the number of its pods that have to be ready."""

    name = "NAME:COUNT"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        clique, separator, count = str(value).rpartition(":")
        if not separator or not clique:
            self.fail(f"{value!r} is not a PodClique with a number of pods, such as demo-0-router:2", param, ctx)
        if not (count.isascii() and count.isdecimal() and int(count) > 0):
            self.fail(f"{value!r} has the number of pods {count!r}: expected an integer greater than 0", param, ctx)
        return clique, int(count)


@click.command(
    "initc",
    epilog="""\b
Example:
  grove initc --podcliques=demo-0-router:2 --podcliques=demo-0-model-0-leader:1

\b
Exit codes: 0 all are ready, 1 not within --timeout, 2 usage error, or the files about the pod are missing, 143 ended by SIGTERM.""",
)
@click.option(
    "-p", "--podcliques", "needed", multiple=True, type=RequirementParam(), help="Wait for this number of ready pods of this PodClique."
)
@click.option("--pod-info", default=POD_INFO, metavar="FOLDER", help=f"Directory with the files namespace and podgangname ({POD_INFO}).")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Give up after this time. Default: never.")
def command(needed: tuple[tuple[str, int], ...], pod_info: str, timeout: float | None) -> int:
    """Wait until the pods of other PodCliques in the same gang are ready.

    Grove puts it into pods of cliques with startsAfter; it accepts the flags and files of upstream's grove-initc. It only
    needs permission to read the pods of its namespace; in training workloads it also reads the PodCliques, if it may.
    """
    if not needed:
        say("nothing to wait for")
        return 0
    namespace, gang = _read(pod_info, "namespace"), _read(pod_info, "podgangname")

    import asyncio  # only after the validation of arguments

    from applier.transport import Terminated, connect, run
    from grove_operator.initc.wait import Parents, connected, wait_for

    counts: dict[str, int] = {}
    for name, count in needed:
        counts[name] = max(count, counts.get(name, 0))
    parents = Parents(counts)

    async def wait() -> None:
        async with asyncio.timeout(timeout):
            await connected(
                lambda: connect(user_agent="grove-initc"), lambda cluster: wait_for(parents, cluster, namespace, gang, say), say
            )

    try:
        run(wait())
    except TimeoutError:
        say(f"not within {timeout:g} s: {parents.describe()}")
        return 1
    except Terminated:  # as when the pod is deleted
        say(f"ended while waiting for {parents.describe()}")
        return EXIT_TERMINATED
    say("all are ready: " + ", ".join(counts))
    return 0


def say(text: str) -> None:
    """Prints one line on standard error, which is the container's log."""
    print(f"grove: {text}", file=sys.stderr, flush=True)


def _read(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} cannot be read ({error}). Is the volume pod-info-vol mounted?") from None
    if not text:
        raise click.UsageError(f"{path} is empty. Does the pod have the label grove.io/podgang?")
    return text
