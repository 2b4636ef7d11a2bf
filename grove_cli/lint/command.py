"""Defines `grove lint`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grove_cli import findings
from grove_cli import output as outputs
from grove_cli.options import FILES, CompileOptions, input_options, max_objects_option, output_option
from grove_cli.program import LoadedRules
from grove_cli.reading.inputs import InputReader
from grove_compiler.compile import lint
from grove_compiler.graph.diagnostic import Diagnostic, has_errors

if TYPE_CHECKING:
    from grove_cli.reading.silencers import Silenced


@click.command(
    "lint",
    epilog="""\b
Examples:
  grove lint workload.yaml                     is it valid, and would admission accept it?
  grove lint manifests/ --strict               for CI: warnings fail
  grove lint new.yaml --old running.yaml       is this edit allowed?
  grove lint workload.yaml -o json | jq .      for programs
  grove lint manifests/ -o github              annotations in a workflow of GitHub Actions
  grove lint manifests/ -o sarif > grove.sarif  for code scanning""",
)
@input_options
@click.option("--old", metavar="FILE", type=FILES, help="The current version of the same sets, to check immutable fields as well.")
@max_objects_option
@output_option(
    "text",
    "json",
    "sarif",
    "github",
    help_text="Output format: text, json, sarif (SARIF 2.1.0, for code scanning), or github (annotations of GitHub Actions).",
)
def command(
    files: tuple[str, ...],
    context: CompileOptions,
    old: str | None,
    max_objects: int,
    output: str,
) -> int:
    """Run defaults and validation only, and print every finding."""
    reader = InputReader()
    inputs = reader.read(files, context.settings(max_objects=max_objects), config=context.config, snapshot=context.snapshot, old=old)
    book = LoadedRules(context.rules)
    program = book.program()
    result, silenced = reader.silence(reader.problems + lint(inputs, program), context.ignore, book.own_files)
    if output == "text":
        findings.write(result, reader.find_file, book.find_file)
    else:
        every = [*result, *(entry.finding for entry in silenced)]
        names = {finding.file: known.name for finding in every if (known := reader.find_file(finding.file) or book.find_file(finding.file))}
        outputs.write([_rendered(result, silenced, output, {rule.id: rule.doc for rule in program.rules}, names)])
    return 1 if has_errors(result) or (context.strict and result) else 0


def _rendered(result: list[Diagnostic], silenced: list[Silenced], output: str, docs: dict[str, str], names: dict[str, str]) -> bytes:
    if output == "sarif":
        from grove_cli.lint.for_services import as_sarif

        return as_sarif(result, docs, names, silenced)
    if output == "github":
        from grove_cli.lint.for_services import as_github

        return as_github(result, names)
    return _as_json(result, silenced)


def _as_json(result: list[Diagnostic], silenced: list[Silenced]) -> bytes:
    errors, warnings = findings.count(result)
    report: dict[str, Any] = {"errors": errors, "warnings": warnings, "findings": findings.as_manifest(result)}
    if silenced:
        manifests = findings.as_manifest([entry.finding for entry in silenced])
        report["silenced"] = [{**manifest, "reason": entry.reason} for manifest, entry in zip(manifests, silenced, strict=True)]
    return outputs.json_report(report)
