"""`grove preflight controller`: admission of pods and the gang controller, as one process of a cluster."""

from __future__ import annotations

import sys

import click

from grove_operator.cli.cluster.options import GIVEN, Target
from grove_operator.cli.cluster.session import ERROR, Failed, Session, program_of, run
from grove_operator.cli.options import preflight_values_option, rules_option


@click.command(
    "controller",
    epilog="""\b
Examples:
  grove preflight controller --values values.yaml --cert-dir /certs     in a pod
  grove preflight controller --kubeconfig config                        gangs alone, from a desk

\b
Exit codes: 0 stopped by a signal, 2 wrong values, rules or certificates, or a cluster that cannot be read.""",
)
@preflight_values_option("--values")
@rules_option
@click.option("--cert-dir", default="", metavar="DIR", type=GIVEN, help="Where tls.crt and tls.key are; without it no pods are admitted.")
@click.option("--port", default=9443, show_default=True, type=click.IntRange(0, 65535), metavar="N", help="Port of the webhook; 0 for any.")
@click.option("--kubeconfig", default="", metavar="FILE", type=GIVEN, help="How to log in; in a pod, its service account.")
@click.option("--context", default="", metavar="NAME", type=GIVEN, help="The kubeconfig's context.")
def command(values: str | None, rules: tuple[str, ...], cert_dir: str, port: int, kubeconfig: str, context: str) -> int:
    """Put checks into pods that are created, and keep the ConfigMaps by which the pods of a gang find one another.

    The webhook answers at /mutate-pod. Any number of replicas may run: they admit alike, and write the same.
    """

    async def work(session: Session) -> int:
        from applier.cache import WatchCache
        from applier.stop import Stop, ended_by_signal
        from grove_operator.cli.preflight.values import values_of
        from grove_operator.preflight.gangs import WATCHED, GangController
        from grove_operator.preflight.process import ADMISSION, serve
        from grove_operator.reading.inputs import InputReader

        reader = InputReader()
        preflight = values_of(values, reader)
        if reader.problems:
            from grove_operator import findings

            findings.write(reader.problems, reader.find_file, sys.stderr)
            raise Failed("the values are wrong")
        program = program_of(rules)
        cache = WatchCache(session.cluster, [*WATCHED, *(ADMISSION if cert_dir else ())])
        controller, stop = GangController(session.cluster, preflight, program, cache), Stop()
        with ended_by_signal(stop):
            try:
                await serve(controller, preflight, program, cert_dir, port, stop, lambda text: print(text, file=sys.stderr, flush=True))
            except OSError as error:
                raise Failed(str(error)) from None
        return 0

    return run(work, Target(kubeconfig=kubeconfig, context=context), long=True, findings=ERROR)
