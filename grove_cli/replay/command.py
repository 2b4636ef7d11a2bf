"""Defines `grove replay`: evaluates recorded steps again, and compares the decisions."""

from __future__ import annotations

import sys

import click

from grove_cli import output as outputs
from grove_cli.cluster.session import program_of, say
from grove_cli.errors import UnreadableInput
from grove_cli.exit_codes import EXIT_ERROR, EXIT_FINDINGS, EXIT_OK
from grove_cli.options import FILES, output_option, rules_option


@click.command(
    "replay",
    epilog="""\b
Examples:
  grove replay demo.json                          whether it decides the same here
  grove replay demo.json --rules our-rules        what other rules would have decided
  grove replay demo.json -o yaml                  the recorded inputs, and what is decided

\b
Exit codes: 0 every decision is the same, 1 one differs, 2 a file is not a bundle, or an error.""",
)
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=FILES)
@rules_option
@output_option("text", "json", "yaml")
def command(files: tuple[str, ...], rules: tuple[str, ...], output: str) -> int:
    """Evaluate a step of the operator again from a recorded bundle, and compare the decisions.

    A bundle contains the inputs of the step, its time, and its decisions. No cluster is accessed.
    """
    from grove_cli.reading.files import read_one
    from grove_cli.replay.report import ReplayedBundle, report_text, report_value
    from grove_cli.terminal import terminal_of
    from grove_compiler.replay.bundle import BadBundle, decode
    from grove_compiler.replay.replay import replay

    program = program_of(rules, named=True, code=EXIT_ERROR)
    reports: list[ReplayedBundle] = []
    code = EXIT_OK
    for file in files:
        try:
            bundle = decode(read_one(file).data)
        except UnreadableInput as error:
            for problem in error.problems:
                say(problem)
            code = EXIT_ERROR
            continue
        except BadBundle as error:
            say(f"{file}: {error}")
            code = EXIT_ERROR
            continue
        reports.append(ReplayedBundle(file, bundle, replay(bundle, program), program.name))
        code = max(code, EXIT_OK if reports[-1].replayed.is_equal else EXIT_FINDINGS)
    if output == "json":
        outputs.write_report([report_value(report) for report in reports])
    elif output == "yaml":
        outputs.write(outputs.as_yaml(map(report_value, reports)))
    else:
        terminal = terminal_of(sys.stdout)
        outputs.write([outputs.encoded(report_text(report, terminal)) for report in reports])
    return code
