"""Reads the Helm values of the preflight checks."""

from __future__ import annotations

from grove_cli.errors import UnreadableInput
from grove_cli.reading.inputs import InputReader
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight import read_values


def values_of(path: str | None, reader: InputReader) -> Preflight:
    """Returns the values of a file, or the defaults without one. Errors are added to the problems of the reader."""
    documents = reader.documents([path]) if path else []
    if len(documents) > 1:
        raise UnreadableInput([f"{path}: expected one document of Helm values, found {len(documents)}"])
    preflight, findings = read_values(documents[0] if documents else None)
    reader.problems += findings
    return preflight
