"""Defines `grove fit`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from grove_cli import findings
from grove_cli import output as outputs
from grove_cli.compilation import compile_files
from grove_cli.options import FILES, CompileOptions, input_options, text_or_json_option
from grove_cli.reading.files import STDIN
from grove_cli.reading.inputs import InputReader
from grove_cli.terminal import terminal_of
from grove_compiler.fit.fit import DEFAULT_STEPS, fit
from grove_compiler.fit.gang_reader import read_gangs
from grove_compiler.fit.joint import FITS
from grove_compiler.fit.node_lint import lint_nodes
from grove_compiler.fit.node_reader import Nodes, read_nodes
from grove_compiler.fit.report import FitReport
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Node
from grove_compiler.source.document import Document


@click.command(
    "fit",
    epilog="""\b
Examples:
  grove fit workload.yaml --nodes nodes.yaml
  kubectl get nodes -o json | grove fit workload.yaml --nodes -
  kubectl get nodes,pods -A -o json > now.json; grove fit workload.yaml --nodes now.json
  grove fit workload.yaml --config operator.yaml --nodes nodes.yaml -o json | jq .verdict

\b
Exit codes: 0 every gang fits, 1 one does not or may not, or there are findings, 2 usage error.""",
)
@input_options
@click.option(
    "--nodes",
    metavar="FILE",
    multiple=True,
    required=True,
    type=FILES,
    help="v1 Nodes, and Pods that already run on them, as `kubectl get -o yaml` prints them; repeatable.",
)
@click.option(
    "--steps",
    metavar="N",
    type=click.IntRange(min=0),
    default=DEFAULT_STEPS,
    show_default=True,
    help="Search limit, in node evaluations, before the answer is 'unknown'.",
)
@text_or_json_option
def command(
    files: tuple[str, ...],
    context: CompileOptions,
    nodes: tuple[str, ...],
    steps: int,
    output: str,
) -> int:
    """Check whether every gang fits on these nodes under its constraints.

    All gangs are placed at the same time, each with the minimum of its pods at once. For a gang without a place, the answer says
    which topology level fails first, how many pods would fit, and which resource is insufficient. Node labels are also checked.
    """
    if STDIN in files and STDIN in nodes:
        raise click.UsageError("Standard input can be the sets or the nodes, not both.")
    compiled = compile_files(files, context)
    given = InputReader()
    listed = given.lists(nodes)
    result = compiled.findings
    result += given.problems
    report = None
    if not has_errors(result):
        report, more = _answer(compiled.result.graph.nodes, listed, steps)
        result += more
    if output == "json":
        outputs.write_report({**(report.as_manifest() if report else {}), "findings": findings.as_manifest(result)})
    else:
        findings.write(result, given.find_file, compiled.find_file)
        _write_text(report)
    fine = report is not None and report.verdict == FITS and not compiled.fails(context.strict)
    return 0 if fine else 1


def _answer(objects: Sequence[Node], documents: Sequence[Document], steps: int) -> tuple[FitReport, list[Diagnostic]]:
    gangs = read_gangs(objects)
    nodes: Nodes = read_nodes(documents, {(gang.namespace, gang.name) for gang in gangs})
    result = nodes.findings + lint_nodes(nodes.cluster, gangs)
    return fit(nodes.cluster, gangs, steps), result


def _write_text(report: FitReport | None) -> None:
    if report is not None:
        from grove_cli.fit.as_text import report_text

        outputs.write_text(report_text(report, terminal_of(sys.stdout)))
