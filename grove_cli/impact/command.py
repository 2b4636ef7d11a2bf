"""Defines `grove impact`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from grove_cli import findings
from grove_cli import output as outputs
from grove_cli.exit_codes import EXIT_ERROR, EXIT_FINDINGS, EXIT_OK
from grove_cli.options import FILES, CompileOptions, context_options, text_or_json_option
from grove_cli.program import LoadedRules
from grove_cli.reading.files import STDIN
from grove_cli.reading.inputs import InputReader
from grove_compiler.compile import Inputs
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.impact.fate import Operator
from grove_compiler.impact.impact import Impact, impact
from grove_compiler.kube.conditions import HELD, STALLED
from grove_compiler.model.inputs.snapshot import ObjectList, Snapshot
from grove_compiler.old_states import all_as_followed
from grove_compiler.source.document import Document, objects_in
from kube_objects.manifest import maps, section


@click.command(
    "impact",
    epilog="""\b
Examples:
  grove impact running.yaml edited.yaml
  git show HEAD:workload.yaml | grove impact - workload.yaml
  kubectl get pcs qwen -o yaml | grove impact - qwen.yaml
  grove impact old/ new/ -o json | jq '.sets[].pods'
  grove impact sets/ --rules our-rules                          how your own rules would change everything that runs
  grove impact sets/ --old-rules our-rules --rules my-rules     and how newer ones would

\b
Exit codes, as those of kubectl diff: 0 no object changes, 1 objects change, 2 the edit is not allowed, or an error.""",
)
@click.argument("old", metavar="OLD", type=FILES)
@click.argument("new", metavar="[NEW]", type=FILES, required=False)
@click.option(
    "--old-rules",
    multiple=True,
    metavar="DIR",
    type=FILES,
    help="Your own rules that generated the running objects. Default: those of --rules; none without NEW.",
)
@click.option(
    "--operator",
    type=click.Choice(["grove", "shipped"]),
    default="grove",
    show_default=True,
    help="The operator that updates: this one, or NVIDIA's upstream one (shipped), which recreates the PodCliques of scaling groups.",
)
@context_options
@text_or_json_option
def command(
    old: str,
    new: str | None,
    old_rules: tuple[str, ...],
    operator: Operator,
    context: CompileOptions,
    output: str,
) -> int:
    """Show the effects of replacing OLD, which is running, by NEW; without NEW, of changing the rules that compile it.

    OLD and NEW are manifests, directories, or - for standard input; sets are matched by namespace and name. The answer names objects
    that are created, changed, replaced and deleted, pods that restart and in which order, gangs and GPUs, and which line of the edit is
    behind each, and parts of the edit that do not reach existing objects. Edits that are not allowed come first.
    """
    if STDIN == old == new:
        raise click.UsageError("Standard input can be OLD or NEW, not both.")
    if new is None and not (old_rules or context.rules):
        raise click.UsageError("Without NEW, specify --rules or --old-rules: otherwise nothing changes.")
    reader = InputReader()
    settings = context.settings()
    before = reader.read([old], settings, config=context.config, snapshot=context.snapshot)
    after = before if new is None else reader.read([new], settings)
    book = LoadedRules(context.rules)
    program = book.program(EXIT_ERROR)
    old_program = LoadedRules(old_rules).program(EXIT_ERROR) if new is None or old_rules else program
    result = Impact(findings=reader.problems)
    if result.is_known:
        followed = all_as_followed(before.documents, Snapshot((), ObjectList(before.snapshot)))
        given = {id(document) for document in before.documents}
        reader.problems += [finding for document in followed if id(document) in given for finding in _held(document)]
        before.documents = followed
        edited = Inputs(after.documents, before.snapshot, [], before.config, settings)
        result = impact(before, edited, program, operator=operator, old_program=None if old_program is program else old_program)
        result.findings = reader.problems + result.findings
    reported = [*result.forbidden, *result.findings]
    if output == "json":
        from grove_cli.impact.as_json import as_json

        outputs.write([as_json(result)])
    else:
        from grove_cli.impact.as_text import impact_text
        from grove_cli.terminal import terminal_of

        findings.write(reported, reader.find_file, book.find_file)
        outputs.write_text(impact_text(result, terminal_of(sys.stdout)))
    if not result.is_known or (context.strict and reported):
        return EXIT_ERROR
    return EXIT_FINDINGS if result.touches else EXIT_OK


def _held(document: Document) -> Iterator[Diagnostic]:
    """Yields a warning for each set whose edit is held, as its status tells: nobody knows here what it runs."""
    message = "an edit of this set is held, so its pods are those of another spec"
    for at, value in objects_in(document.value):
        conditions = maps(section(value, "status").get("conditions"))
        if any((one.get("type"), one.get("status"), one.get("reason")) == (STALLED, "True", HELD) for one in conditions):
            yield document.finding(
                "impact/held", message, (*at, "spec"), "warning", hint="--snapshot with its ControllerRevisions tells it"
            )
