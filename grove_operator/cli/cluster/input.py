"""Files to a graph of objects that should exist: sets are compiled for the cluster as it is, all else is taken as it stands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from applier.desired import Graph, Twice
from applier.errors import UnknownKind
from applier.ref import Kind, Manifest
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.graph import Graph as CompiledGraph
from grove_operator.cli.cluster.options import InputOptions
from grove_operator.cli.cluster.session import Failed, Reported, Session
from grove_operator.cluster.classify import Classified, Item, about_compiled, classify_documents
from grove_operator.cluster.desired import Sources, desired_graph
from grove_operator.cluster.scope import OtherNamespace, defined_scopes, in_namespace
from grove_operator.reading.files import InputFile
from grove_operator.reading.inputs import InputReader

DEFINITIONS = "grove crds | kubectl apply --server-side -f -"


class ClusterInput:
    """What a command line asks for, read once. Reading raises `UnreadableInput` for files that cannot be looked at."""

    def __init__(self, asked: InputOptions, namespace: str) -> None:
        """Takes in `namespace` the one of `-n`, which is empty without."""
        self.asked, self.namespace = asked, namespace
        self.reader = InputReader()
        self.sorted = classify_documents(self.reader.documents(asked.files, config=asked.config))
        self.config = self.reader.configuration(asked.config) if asked.config else None
        self._find_file: Callable[[str], InputFile | None] = self.reader.find_file

    async def graph(self, session: Session) -> Graph:
        """Returns everything that should exist.

        Raises `Reported` after findings were printed, `Failed` for what the server does not know.
        """
        found = self.reader.problems + self.sorted.findings
        compiled = CompiledGraph([], {})
        if self.sorted.compiled:
            compiled = await self._compiled(session, found)
        self._report(found)
        items = [*await self._served(session, self.sorted.subjects), *self.sorted.plain]
        try:
            items = await in_namespace(session.cluster, items, session.namespace, only=bool(self.namespace))
            wanted = desired_graph(Sources(compiled, items), selects=self._selects(), force=self.asked.force)
        except (OtherNamespace, Twice) as error:
            raise Failed(str(error)) from None
        if self.asked.selector and not wanted.objects:
            raise Failed(f"-l {self.asked.selector} selects none of these objects")
        if not wanted.objects:  # with --prune, it would stand for "delete them all"; kubectl says the same: no objects passed to apply
            raise Failed(f"there are no objects in {', '.join(self.asked.files)}")
        await _check_kinds(session, wanted)
        return wanted

    async def _compiled(self, session: Session, found: list[Diagnostic]) -> CompiledGraph:
        """Returns what the sets become, given what exists; empty with errors among the findings."""
        from grove_compiler.compile import Inputs  # only for sets
        from grove_compiler.compile import compile as compile_inputs
        from grove_compiler.model.inputs.settings import OFFLINE_KUBE_VERSION, Settings
        from grove_operator.cli.program import Rules
        from grove_operator.cluster.snapshot import read_snapshot

        asked, book = self.asked, Rules(self.asked.rules)
        program = book.program()
        if program is None:
            raise Reported
        self._find_file = lambda name: self.reader.find_file(name) or book.find_file(name)
        version = asked.kube_version or await session.version() or OFFLINE_KUBE_VERSION
        settings = Settings(session.namespace, asked.pods, version, mnnvl_shape=asked.mnnvl_shape)
        snapshot = await read_snapshot(session.cluster, _namespaces(self.sorted, session.namespace))
        result = compile_inputs(Inputs(self.sorted.compiled, snapshot, config=self.config, settings=settings), program)
        found += about_compiled(result.diagnostics)
        return result.graph

    def _report(self, found: list[Diagnostic]) -> None:
        if found:
            from grove_operator import findings  # only when something is wrong

            findings.write(found, self._find_file, sys.stderr)
            if self.asked.strict or has_errors(found):
                raise Reported

    def _selects(self) -> Callable[[Manifest], bool] | None:
        if not self.asked.selector:
            return None
        from applier.cache.selectors import Selector  # only with -l

        try:
            return Selector(self.asked.selector).matches
        except ValueError as error:
            raise Failed(f"-l: {error}") from None

    async def _served(self, session: Session, subjects: Sequence[Item]) -> list[Item]:
        """Returns the sets and topologies whose kinds the server knows: they are written as well, and own what they become."""
        served = []
        for subject in subjects:
            try:
                await session.cluster.resource(Kind.of(subject.manifest))
                served.append(subject)
            except UnknownKind:
                continue
        return served


def _namespaces(found: Classified, default: str) -> set[str]:
    """Returns the namespaces of the sets."""
    return {str((item.manifest.get("metadata") or {}).get("namespace") or default) for item in found.subjects}


async def _check_kinds(session: Session, graph: Graph) -> None:
    """Raises `Failed` with a line for each kind that neither the server nor the graph knows."""
    defined = defined_scopes(desired.manifest for desired in graph.objects.values())
    problems = []
    for kind in {Kind.of(desired.manifest): None for desired in graph.objects.values()}:
        if (kind.group, kind.kind) not in defined:
            try:
                await session.cluster.resource(kind)
            except UnknownKind as error:
                problems.append(missing_kind(kind, str(error)))
    if problems:
        raise Failed(*problems)


def missing_kind(kind: Kind, said: str) -> str:
    """Returns what to do about a kind that the server does not serve."""
    ours = kind.group == "grove.io" or kind.group.endswith(".grove.io")
    return f"{said}: {DEFINITIONS}" if ours else said
