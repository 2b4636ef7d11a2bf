"""Puts preflight checks into the pods of a compilation."""

from __future__ import annotations

from grove_compiler.preflight import inject_compiled
from grove_compiler.source.document import objects_in
from grove_operator.cli.compilation import Compilation
from grove_operator.cli.preflight.values import values_of


def inject_checks(compiled: Compilation, values: str | None) -> None:
    """Changes the pods among what was compiled to what admission makes of them; findings are added to the compilation's.

    What exists is the snapshot, and what else stands in the input.
    """
    known = len(compiled.reader.problems)
    preflight = values_of(values, compiled.reader)
    given = [manifest for document in compiled.inputs.documents for _, manifest in objects_in(document.value) if isinstance(manifest, dict)]
    existing = [*compiled.inputs.snapshot, *given]
    told = compiled.reader.problems[known:]
    for subject in compiled.result.subjects:
        subject.nodes, findings = inject_compiled(subject.nodes, existing, preflight, compiled.program)
        told += findings
    vars(compiled.result).pop("graph", None)  # worked out from the pods as they were
    compiled.findings += told
