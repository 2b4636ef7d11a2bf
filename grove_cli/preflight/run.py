"""Implements `grove preflight run --local`: runs checks on this machine."""

from __future__ import annotations

import os
import socket

import click

from grove_cli import output as outputs
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.options import preflight_values_option, rules_option, text_or_json_option
from grove_cli.preflight.values import values_of
from grove_cli.program import LoadedRules
from grove_cli.reading.inputs import InputReader


@click.command(
    "run",
    epilog="""\b
Examples:
  grove preflight run --local                                 the configured checks that need no other machine
  grove preflight run --local dcgm-diag --values values.yaml  one of them, with the settings of a cluster
  grove preflight run --local nccl-allreduce                  the collective across the GPUs of this machine alone

\b
Exit codes: 0 all have passed, 1 one has failed, 2 one is misconfigured, or a usage error.""",
)
@click.argument("checks", nargs=-1, metavar="[CHECK]...")
@click.option(
    "--local",
    is_flag=True,
    required=True,
    expose_value=False,
    help="Run on this machine; in a cluster, injected init containers run the checks.",
)
@click.option(
    "--hostengine", default="localhost:5555", show_default=True, metavar="ADDR", help="Address of this machine's DCGM host engine."
)
@preflight_values_option("--values")
@rules_option
@text_or_json_option
def command(checks: tuple[str, ...], hostengine: str, values: str | None, rules: tuple[str, ...], output: str) -> int:
    """Run checks on this machine, and print their results. Nothing is reported elsewhere.

    Checks need the programs of their images: dcgmi and DCGM's host engine, all_reduce_perf of nccl-tests, PyTorch.
    """
    from grove_cli import findings
    from grove_operator.preflight.local import as_json, as_text, environments, known_checks, run_here

    reader, known = InputReader(), known_checks()
    preflight = values_of(values, reader)
    findings.report(reader.problems, reader.find_file, code=EXIT_ERROR)
    program = LoadedRules(rules).program(EXIT_ERROR)
    configured = [check.name for check in preflight.checks if check.name in known and check.name != "nccl-allreduce"]
    unknown = [name for name in checks if name not in known]
    if unknown:
        raise click.UsageError(f"unknown check {unknown[0]}; the checks that can run locally are {', '.join(known)}")
    settings = environments(preflight, program)
    worst = 0
    for name in checks or configured:
        ended = run_here(name, known[name], settings.get(name, {}), os.environ, socket.gethostname(), hostengine)
        lines = [as_json(ended)] if output == "json" else as_text(ended)
        outputs.write([outputs.encoded(line + "\n") for line in lines])
        worst = max(worst, ended.outcome.exit_code)
    return worst
