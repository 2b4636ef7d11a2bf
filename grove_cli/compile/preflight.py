"""Injects preflight checks into the pods of a compilation."""

from __future__ import annotations

from grove_cli.compilation import Compilation
from grove_cli.preflight.values import values_of
from grove_compiler.preflight import inject_compiled
from grove_compiler.source.document import objects_in


def inject_checks(compiled: Compilation, values: str | None) -> None:
    """Applies the admission of preflight checks to compiled pods; adds its findings to those of the compilation.

    What exists is the snapshot, and what else stands in the input.
    """
    known = len(compiled.reader.problems)
    preflight = values_of(values, compiled.reader)
    given = [manifest for document in compiled.inputs.documents for _, manifest in objects_in(document.value) if isinstance(manifest, dict)]
    existing = [*compiled.inputs.snapshot, *given]
    problems = compiled.reader.problems[known:]
    for subject in compiled.result.subjects:
        subject.nodes, findings = inject_compiled(subject.nodes, existing, preflight, compiled.program)
        problems += findings
    vars(compiled.result).pop("graph", None)  # a cached property, computed from the unchanged pods
    compiled.findings += problems
