"""Reads what the command line of a process in a cluster names: rules, and the OperatorConfiguration."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.record import record
from grove_operator import findings
from grove_operator.cli.cluster.session import Reported, program_of
from grove_operator.reading.inputs import InputReader

if TYPE_CHECKING:
    from grove_compiler.engine.runtime.program import Program
    from grove_compiler.model.inputs.settings import Settings
    from grove_compiler.source.document import Document
    from grove_compiler.step import Context
    from grove_operator.cli.cluster.session import Session

RECORDED_KUBE_VERSION = "1.35"
"""Kubernetes' version where only its objects are known: the newest that this program is tested with."""


@record
class StartFiles:
    """What was read: rules from `folders` beside those that ship, and the configuration from the file `path`.

    Both are empty where the command line names none, and so is the document.
    """

    folders: Sequence[str]
    path: str
    program: Program
    document: Document | None

    def context(self, settings: Settings) -> Context:
        """Returns what every step shares. Prints what is wrong with the configuration; raises `Reported` where it cannot be run with."""
        from grove_compiler.step import Context

        made = Context(self.program, settings, self.document)
        findings.write(made.findings, InputReader().find_file, sys.stderr)
        if has_errors(made.findings):
            raise Reported
        return made


def read_start_files(config: str | None, folders: Sequence[str], *, may_be_empty: bool = False) -> StartFiles:
    """Returns what the files say. Raises `Reported` after findings about them were printed.

    Folders `may_be_empty` where rules come later, as in a volume whose ConfigMap is optional.
    """
    document = _document(config) if config else None
    return StartFiles(folders, config or "", program_of(folders, may_be_empty=may_be_empty, named=True), document)


async def live_context(files: StartFiles, session: Session, mnnvl_shape: str | None = None) -> Context:
    """Returns what the operator of that cluster would share among steps. Raises `ClusterError`, and `Reported` as `context` does."""
    from grove_operator.controller.operator import settings_of
    from grove_operator.controller.served_shape import served_shape

    return files.context(settings_of(await session.version(), mnnvl_shape or await served_shape(session.cluster)))


def recorded_context(config: str | None, folders: Sequence[str], mnnvl_shape: str | None = None) -> Context:
    """Returns the same for recorded objects, of a cluster that cannot be asked. Raises `Reported` after findings were printed."""
    from grove_operator.controller.operator import settings_of

    return read_start_files(config, folders).context(settings_of(RECORDED_KUBE_VERSION, mnnvl_shape))


def _document(path: str) -> Document:
    reader = InputReader()
    document = reader.configuration(path)
    if document is None:
        findings.write(reader.problems, reader.find_file, sys.stderr)
        raise Reported
    return document
