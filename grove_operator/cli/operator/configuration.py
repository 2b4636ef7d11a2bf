"""Reads the OperatorConfiguration for what runs in a cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grove_compiler.graph.diagnostic import has_errors
from grove_operator import findings
from grove_operator.cli.cluster.session import Reported
from grove_operator.reading.inputs import InputReader

if TYPE_CHECKING:
    from grove_compiler.model.inputs.configuration import Configuration
    from grove_compiler.source.document import Document
    from grove_compiler.step import Context


def read_configuration(path: str) -> Document:
    """Returns the configuration's document. Raises `Reported` after findings about it were printed."""
    reader = InputReader()
    document = reader.configuration(path)
    if document is None:
        findings.write(reader.problems, reader.find_file, sys.stderr)
        raise Reported
    return document


def refuse_errors(context: Context) -> None:
    """Prints what is wrong with the configuration. Raises `Reported` where it cannot be run with."""
    findings.write(context.findings, InputReader().find_file, sys.stderr)
    if has_errors(context.findings):
        raise Reported


def with_defaults(context: Context) -> Configuration:
    """Returns the configuration; the defaults alone where none was given."""
    from grove_compiler.source.document import Document
    from grove_compiler.step import Context

    if context.config.manifest:
        return context.config
    empty = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    return Context(context.program, context.settings, Document(empty)).config
