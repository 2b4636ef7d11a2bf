"""Defines `grove rules`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from grove_cli import output as outputs
from grove_cli.completed_values import beginning_with, rule_ids
from grove_cli.errors import os_reason
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.options import filenames_option, output_option, rules_option
from grove_cli.program import LoadedRules
from grove_cli.terminal import visible
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from kube_objects.words import counted

if TYPE_CHECKING:
    from grove_cli.rules.listing import Listed
    from grove_compiler.engine.codegen.counting import CountingProgram

WORDS = "[ID | lives [ID] | check DIR… | new WHAT DIR/NAME | schema NAME]"


def _complete_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Completes ids of rules, and behind `lives` those of lives, including those of `--rules`; none with rules that are wrong."""
    if (context.params.get("words") or ())[:1] != ("lives",):
        return rule_ids(context, parameter, incomplete)
    from grove_cli.rules.lives import lives_of

    def lives() -> Iterable[str]:
        rules = LoadedRules(context.params.get("rules") or ())
        rules.program()  # raises where the rules are invalid
        return lives_of(rules.book.sources())

    return beginning_with(incomplete, lives)


@click.command(
    "rules",
    epilog="""\b
Examples:
  grove rules                               the built-in rules
  grove rules --rules my-rules/             with your own directory: added, replaced and disabled rules take effect
  grove rules -f workload.yaml              and what each rule does for these manifests
  grove rules podgang/base                  one rule: its text, its template, the patches that apply
  grove rules lives                         what changes over time: updates, restarts, jobs; with their states
  grove rules lives training/job            one life: its states and transitions; -o mermaid draws it
  grove rules check my-rules/               check your own rules, for CI
  grove rules check my-rules/ -f set.yaml   and check that each of their patches changes something
  grove rules new patch my-rules/team       a commented skeleton; also: life, template, case, and the other verbs
  grove rules schema rule                   the JSON Schema of rules, for editors; also: template, part, options, asserts""",
)
@click.argument("words", metavar=WORDS, nargs=-1, shell_complete=_complete_words)
@rules_option
@filenames_option("Manifests to compile, to count what each rule does")
@click.option("--strict", is_flag=True, help="With check: treat warnings as errors.")
@output_option("text", "json", "mermaid", help_text="Output format; mermaid draws lives.")
def command(words: tuple[str, ...], rules: tuple[str, ...], files: tuple[str, ...], strict: bool, output: str) -> int:
    """List the active rules, show one, or check your own rules.

    Each line has the id, the verb, what the rule did (with -f), its file and line, and its documentation. Rules that replace
    a built-in one, and disabled rules, are marked.
    """
    word, rest = words[:1], words[1:]
    if word == ("check",):
        return _check(rest, rules, files, strict, output == "json")
    if word == ("lives",):
        return _lives(rest, LoadedRules(rules), output)
    if output == "mermaid":
        raise click.UsageError("only lives can be drawn, as in: grove rules lives training/job -o mermaid")
    if word == ("new",):
        return _new(rest)
    if word == ("schema",):
        return _schema(rest)
    if rest:
        raise click.UsageError(f"only one rule at a time; did you mean: grove rules check {words[-1]}")
    return _rules(word, LoadedRules(rules), files, output == "json")


def _rules(wanted: tuple[str, ...], book: LoadedRules, files: tuple[str, ...], is_json: bool) -> int:
    """Lists the rules, or shows the one that is wanted."""
    from grove_cli.rules.listing import list_rules

    program = book.program()
    counts = None
    if files:
        counted, problems = _counted(book, files)
        if has_errors(problems):
            return EXIT_FINDINGS
        counts = dict(counted.counts)
    listed = list_rules(book.book, program, counts)
    if wanted:
        return _show(wanted[0], book, program, listed, is_json)
    if is_json:
        outputs.write_report([rule.as_manifest() for rule in listed])
        return 0
    from grove_cli.render.as_table import table
    from grove_cli.terminal import terminal_of

    rows = [[rule.id, rule.verb, *([] if counts is None else [rule.did]), rule.place, rule.title] for rule in listed]
    outputs.write_text(table([[visible(cell) for cell in row] for row in rows], terminal_of(sys.stdout)))
    return 0


def _counted(book: LoadedRules, files: tuple[str, ...]) -> tuple[CountingProgram, list[Diagnostic]]:
    """Compiles manifests with counters. Returns the program, and the findings, of which errors are printed."""
    from grove_cli.reading.inputs import InputReader
    from grove_compiler.compile import VOCABULARY
    from grove_compiler.compile import compile as compile_inputs
    from grove_compiler.engine.codegen.counting import CountingProgram
    from grove_compiler.model.inputs.settings import Settings

    reader = InputReader()
    inputs = reader.read(files, Settings(pods=True))
    program = CountingProgram(book.book.sources(), VOCABULARY)
    result = reader.problems + compile_inputs(inputs, program).diagnostics
    if has_errors(result):
        from grove_cli import findings

        findings.write(result, reader.find_file, book.find_file)
    return program, result


def _new(words: tuple[str, ...]) -> int:
    from grove_cli.rules.skeletons import WORDS, SkeletonRefused, new

    if len(words) != 2:
        raise click.UsageError(
            f"new requires a form and a path, as in: grove rules new patch my-rules/team; the forms are {', '.join(WORDS)}"
        )
    try:
        written = new(*words)
    except SkeletonRefused as refused:
        raise click.UsageError(str(refused)) from None
    except OSError as error:
        raise click.UsageError(f"{error.filename}: {os_reason(error)}") from None
    outputs.write_text("".join(f"{path}\n" for path in written))
    return 0


def _schema(words: tuple[str, ...]) -> int:
    """Prints a JSON Schema of `tools/generate_rule_schemas.py`, read as a resource of the package."""
    from importlib.resources import files

    folder = files("grove_cli") / "schemas"
    names = sorted(file.name.removesuffix(".schema.json") for file in folder.iterdir() if file.name.endswith(".schema.json"))
    if len(words) != 1 or words[0] not in names:
        raise click.UsageError(f"schema requires one of {', '.join(names)}")
    outputs.write([(folder / f"{words[0]}.schema.json").read_bytes()])
    return 0


def _lives(wanted: tuple[str, ...], book: LoadedRules, output: str) -> int:
    from grove_cli.rules.lives import as_manifest, as_mermaid, as_text, lives_of

    book.program()  # raises where the rules are invalid
    lives = lives_of(book.book.sources())
    unknown = [life_id for life_id in wanted if life_id not in lives]
    if unknown:
        is_disabled = unknown[0] in lives_of(LoadedRules(()).book.sources())
        return _report_unknown(unknown[0], list(lives), is_disabled=is_disabled, what="life")
    shown = [
        (rule.life, book.book.place(rule.source.file, rule.source.line(("life",)), rule.origin))
        for life_id, rule in lives.items()
        if rule.life is not None and (not wanted or life_id in wanted)
    ]
    if output == "json":
        outputs.write_report([as_manifest(life, at) for life, at in shown])
        return 0
    drawn = [as_mermaid(life) if output == "mermaid" else as_text(life, at) for life, at in shown]
    outputs.write_text("\n".join("".join(f"{visible(line)}\n" for line in lines) for lines in drawn))
    return 0


def _show(rule_id: str, book: LoadedRules, program: Program, listed: list[Listed], is_json: bool) -> int:
    from grove_cli.rules.listing import as_text, patches_for, source_text, template_text

    rule = next((rule for rule in program.rules if rule.id == rule_id), None)
    entry = next((entry for entry in listed if entry.id == rule_id), None)
    if rule is None or entry is None:
        return _report_unknown(rule_id, [entry.id for entry in listed], is_disabled=entry is not None)
    sources = book.book.sources()
    template = rule.details.get("template", "")
    text, template_source = source_text(sources, rule), template_text(sources, template) if template else ""
    patches = patches_for(rule, program)
    if is_json:
        more = {"text": text, "template": template, "templateText": template_source, "patches": [patch.id for patch in patches]}
        outputs.write_report({**entry.as_manifest(), "after": [word for word, _ in rule.after], **more})
        return 0
    by = [f"{patch.id} ({book.book.place(patch.file, patch.line, patch.origin)}): {patch.doc}" for patch in patches]
    lines = [*as_text(entry, rule), *(f"patched   {line}" for line in by), "", text]
    if template:
        lines += ["", f"# templates/{template}", template_source]
    outputs.write_text("\n".join(visible(line) for line in "\n".join(lines).split("\n")) + "\n")
    return 0


def _report_unknown(rule_id: str, known: list[str], is_disabled: bool, what: str = "rule") -> int:
    from grove_compiler.graph.nearest import nearest

    if is_disabled:
        shows = f"grove rules {'lives ' if what == 'life' else ''}{rule_id}"
        lines = [f"grove: the {what} {rule_id!r} is disabled; `{shows}` without --rules shows it"]
    else:
        close = nearest(rule_id, known) or next((candidate for candidate in known if candidate.partition("/")[2] == rule_id), "")
        lines = [f"grove: unknown {what} {rule_id!r}", *([f'    did you mean "{close}"?'] if close else [])]
    print("\n".join(map(visible, lines)), file=sys.stderr)
    return EXIT_FINDINGS


def _check(folders: tuple[str, ...], others: tuple[str, ...], inputs: tuple[str, ...], strict: bool, is_json: bool) -> int:
    if not folders:
        raise click.UsageError("check requires a directory of rules, as in: grove rules check my-rules/")
    from grove_cli import findings
    from grove_cli.reading.silencers import silence
    from grove_cli.rules.check import check, idle_patches

    book = LoadedRules((*others, *folders))
    result, _ = silence(check(book.book), book.own_files, errors=("schema/unknown-field",))
    if inputs and not has_errors(result):
        program, problems = _counted(book, inputs)
        if has_errors(problems):
            return EXIT_FINDINGS
        result += idle_patches(program)
    files = book.own_files.values()
    if is_json:
        errors, warnings = findings.count(result)
        paths = [file.name for file in files]
        outputs.write(
            [outputs.json_report({"errors": errors, "warnings": warnings, "files": paths, "findings": findings.as_manifest(result)})]
        )
    else:
        findings.write(result, book.find_file)
        if not result:
            outputs.write([f"{counted(len(files), 'file')}, no problems found\n".encode()])
    return EXIT_FINDINGS if has_errors(result) or (strict and result) else 0
