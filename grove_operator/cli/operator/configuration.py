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
    from grove_operator.controller.log import Log


UNUSED = (
    "runtimeClientConnection.qps",
    "runtimeClientConnection.burst",
    "runtimeClientConnection.contentType",
    "runtimeClientConnection.acceptContentTypes",
    "leaderElection.resourceLock",
    "controllers.podCliqueSet.concurrentSyncs",
    "controllers.podClique.concurrentSyncs",
    "controllers.podCliqueScalingGroup.concurrentSyncs",
    "controllers.podGang.concurrentSyncs",
    "debugging.enableProfiling",
    "debugging.pprofBindHost",
    "debugging.pprofBindPort",
)
"""Fields of the shipped operator that are checked and have no effect here; `docs/configuration.md` says what there is instead."""


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


def tell_unused(document: Document | None, log: Log) -> None:
    """Writes to the log which fields of the file have no effect."""
    given = [path for path in UNUSED if document is not None and _has(document.value, path.split("."))]
    if given:
        log.line("passed over", fields=", ".join(given), why="they have no effect in this operator")


def _has(value: object, path: list[str]) -> bool:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True
