"""Compiles the files of a command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grove_cli.options import CompileOptions
from grove_cli.program import LoadedRules
from grove_cli.reading.files import InputFile
from grove_cli.reading.inputs import InputReader
from grove_compiler.compile import CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.record import record
from grove_compiler.source.document import objects_in

if TYPE_CHECKING:
    from grove_operator.cluster.classify import Item

NO_SET = "input/no-set"


@record
class Compilation:
    """Inputs and result of a compilation, and its findings, to which commands add their own."""

    reader: InputReader
    rules: LoadedRules
    program: Program
    inputs: Inputs
    result: CompileResult
    findings: list[Diagnostic]
    others: Sequence[Item] = ()

    def find_file(self, name: str) -> InputFile | None:
        """Returns the file that a finding names: a manifest, or rules."""
        return self.reader.find_file(name) or self.rules.find_file(name)

    def fails(self, strict: bool) -> bool:
        """Returns whether there are errors, or with `strict` any findings."""
        return bool(self.findings) and (strict or has_errors(self.findings))

    def report(self) -> None:
        """Writes the findings to standard error."""
        if self.findings:
            from grove_cli.findings import write  # only when something is wrong

            write(self.findings, self.find_file)


def compile_files(files: Sequence[str], context: CompileOptions, *, keep_others: bool = False, **settings: Any) -> Compilation:
    """Reads and compiles files; `settings` are those of single commands. Raises `UnreadableInput`, and `Reported` for invalid rules.

    With `keep_others`, manifests that are not compiled are in `others` instead of the findings.
    """
    reader = InputReader()
    inputs = reader.read(files, context.settings(**settings), config=context.config, snapshot=context.snapshot)
    others: Sequence[Item] = ()
    if keep_others:
        from grove_operator.cluster.classify import classify_documents  # only on request

        classified = classify_documents(inputs.documents)
        inputs, others = replace(inputs, documents=classified.compiled), classified.plain
        reader.problems += classified.findings
    rules = LoadedRules(context.rules)
    program = rules.program()
    result = compile_inputs(inputs, program)
    found: Sequence[Diagnostic] = result.diagnostics
    if others:
        from grove_operator.cluster.classify import about_compiled

        found = [finding for finding in about_compiled(found) if finding.code != NO_SET]  # a chart may have none
    findings, _ = reader.silence([*reader.problems, *found], context.ignore, rules.own_files)
    return Compilation(reader, rules, program, inputs, result, findings, others)


def declared(inputs: Inputs) -> Iterator[tuple[str, Manifest]]:
    """Yields the manifests of the input files and of lists in them, with their ids."""
    for document in inputs.documents:
        for _, manifest in objects_in(document.value):
            metadata: Any = manifest.get("metadata") if isinstance(manifest, dict) else None
            if isinstance(metadata, dict):
                place = metadata.get("namespace") or inputs.settings.namespace
                yield ObjectRef("", str(manifest.get("kind")), str(place), str(metadata.get("name"))).id, manifest
