"""Reads the rules and the OperatorConfiguration that the command line of an operator names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from grove_cli import findings
from grove_cli.cluster.session import program_of
from grove_cli.errors import Reported
from grove_cli.reading.inputs import InputReader
from grove_compiler.record import record

if TYPE_CHECKING:
    from applier.cluster import Cluster
    from grove_cli.cluster.session import Session
    from grove_cli.reading.files import InputFile
    from grove_compiler.engine.runtime.program import Program
    from grove_compiler.model.inputs.settings import Settings
    from grove_compiler.source.document import Document
    from grove_compiler.step import StepContext

RECORDED_KUBE_VERSION = "1.35"
"""The version of Kubernetes to assume for recorded objects: the newest that this program is tested with."""


@record
class StartFiles:
    """The rules of `folders` in addition to the built-in ones, and the configuration of the file `path`.

    Both are empty, and `document` is none, when the command line does not name them. `is_installed` if they are those of an operator in
    the cluster, whose log has the warnings about them. `unknown` is the configuration that may not be read, in words; empty if none is.
    """

    folders: Sequence[str]
    path: str
    program: Program
    document: Document | None
    is_installed: bool = False
    unknown: str = ""

    def context(self, settings: Settings) -> StepContext:
        """Returns the context of all steps. Prints findings about the configuration, and raises `Reported` if they are errors."""
        from grove_compiler.step import StepContext

        context = StepContext(self.program, settings, self.document)
        findings.report([finding for finding in context.findings if not self.is_installed or finding.severity == "error"])
        return context


def read_start_files(config: str | None, folders: Sequence[str], *, may_be_empty: bool = False) -> StartFiles:
    """Reads the files. Raises `Reported` after printing findings about them.

    Folders `may_be_empty` if rules may be added later, as in a volume whose ConfigMap is optional.
    """
    document = _document(config) if config else None
    return StartFiles(folders, config or "", program_of(folders, may_be_empty=may_be_empty, named=True), document)


async def as_installed(files: StartFiles, cluster: Cluster) -> StartFiles:
    """Returns the files with the configuration of the operator in a cluster, if they have none. Raises `ClusterError`, and `Reported`."""
    from grove_cli.queries.installed import installed_configuration, read_operators, unknown_configuration

    if files.document is not None:
        return files
    operators = await read_operators(cluster)
    if (found := await installed_configuration(cluster, operators)) is None:
        return replace(files, unknown=unknown_configuration(operators))
    return StartFiles(files.folders, found.name, files.program, _document(found), is_installed=True)


async def live_context(files: StartFiles, session: Session, mnnvl_shape: str | None = None) -> StepContext:
    """Returns the context for a cluster, by its version and driver. Raises `ClusterError`, and `Reported` as `context` does."""
    from grove_operator.controller.operator import served_shape, settings_of

    return files.context(settings_of(await session.version(), mnnvl_shape or await served_shape(session.cluster)))


def recorded_context(config: str | None, folders: Sequence[str], mnnvl_shape: str | None = None) -> StepContext:
    """Returns the context for recorded objects. Raises `Reported` after printing findings."""
    from grove_operator.controller.operator import settings_of

    return read_start_files(config, folders).context(settings_of(RECORDED_KUBE_VERSION, mnnvl_shape))


def _document(given: str | InputFile) -> Document:
    reader = InputReader()
    document = reader.configuration(given)
    if document is None:
        findings.write(reader.problems, reader.find_file)
        raise Reported
    return document
