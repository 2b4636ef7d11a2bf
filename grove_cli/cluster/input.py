"""Reads files into a graph of desired objects: compiles sets for the existing cluster, and includes other manifests in their namespaces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from applier.desired import Desired, DuplicateObject, Graph
from applier.errors import UnknownKind
from applier.ref import Kind, Manifest, Ref
from grove_cli.cluster.options import InputOptions
from grove_cli.cluster.placement import OtherNamespace, defined_scopes, in_namespace
from grove_cli.cluster.session import Failed, Session, say
from grove_cli.errors import Reported
from grove_cli.reading.inputs import InputReader
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.source.document import Document, objects_in
from grove_operator.cluster.classify import Classified, Item, about_compiled, classify_documents
from grove_operator.cluster.desired import Sources, desired_graph, is_compiled
from kube_objects.words import listed

if TYPE_CHECKING:
    from applier.outcome import Step
    from grove_cli.queries.installed import InstalledOperator
    from grove_compiler.compile import Inputs
    from grove_compiler.engine.runtime.program import Program
    from grove_compiler.model.inputs.snapshot import Snapshot


DEFINITIONS = "grove crds | kubectl apply --server-side -f -"
Purpose = Literal["apply", "adopt", "delete"]
REFUTABLE = frozenset(
    {
        "validate/cluster-topology-enabled",
        "validate/mnnvl-group-enabled",
        "validate/scheduler-enabled",
        "validate/topology-enabled",
        "validate/topology-found",
    }
)
"""Rules by which something is an error that may be there, or be enabled, for all that one knows who may not read all of it. Others' rules
may ask anything."""


class ClusterInput:
    """The files of a command line. Raises `UnreadableInput` for files that cannot be read."""

    def __init__(self, options: InputOptions, namespace: str, *, purpose: Purpose = "apply") -> None:
        """Reads the files. `namespace` is that of `-n`, empty without.

        Who adopts or deletes does without the kinds of others that sets become, such as a scheduler's: where the server does not serve
        them, no object of them exists. Who deletes does without what may not be read, as it goes with its set.
        """
        self.options, self.namespace, self.purpose = options, namespace, purpose
        self.reader = InputReader()
        self.sorted = classify_documents(self.reader.documents(options.files, config=options.config))
        self.config = self.reader.configuration(options.config) if options.config else None
        self.leader = ""
        """What shows that an operator leads the sets, so that they are in the graph without what they become; empty if none does."""
        self.effects: list[Step] = []
        """What the operator makes of the edit, where one leads."""
        self.led: list[Ref] = []
        """The sets and topologies that it leads."""
        self.unread: list[str] = []
        """What may not be read of what a set depends on, so that the operator alone can check it."""
        self._files = [self.reader.find_file]

    async def graph(self, session: Session) -> Graph:
        """Returns the desired objects.

        Raises `Reported` after printing findings, and `Failed` for kinds that the server does not serve.
        """
        findings = self.reader.problems + self.sorted.findings
        compiled = CompiledGraph([], {})
        if self.sorted.compiled:
            compiled = await self._compile(session, findings)
        self._report(findings)
        if self.unread and self.purpose == "apply":
            say(f"only the operator checks all of this: you may not read {listed(self.unread)}")
        items = [*await self._served(session, self.sorted.subjects), *self.sorted.plain]
        try:
            items = await in_namespace(session.cluster, items, session.namespace, only=bool(self.namespace))
            written = CompiledGraph([], {}) if self.leader else compiled
            graph = desired_graph(Sources(written, items), selects=self._selects(), force=self.options.force)
        except (OtherNamespace, DuplicateObject) as error:
            raise Failed(str(error)) from None
        if self.options.selector and not graph.objects:
            raise Failed(f"-l {self.options.selector} matches none of these objects")
        if not graph.objects:  # with --prune it would delete all members; kubectl fails as well: no objects passed to apply
            raise Failed(f"there are no objects in {', '.join(self.options.files)}")
        needed = [one for one in graph.objects.values() if self.purpose == "apply" or not _is_compiled_for_others(one)]
        await _check_kinds(session, needed)
        return graph

    async def _compile(self, session: Session, findings: list[Diagnostic]) -> CompiledGraph:
        """Compiles the sets for the existing objects, and adds the findings. The graph is empty if there are errors."""
        from applier.cache.snapshot import as_one
        from grove_cli.program import LoadedRules
        from grove_cli.queries.installed import read_operators, unknown_configuration
        from grove_compiler.compile import Inputs  # only for sets
        from grove_compiler.compile import compile as compile_inputs
        from grove_compiler.decoder import SET_KIND
        from grove_compiler.model.inputs.settings import OFFLINE_KUBE_VERSION, Settings
        from grove_compiler.model.inputs.snapshot import ObjectList, Snapshot
        from grove_compiler.old_states import all_as_recorded
        from grove_operator.cluster.snapshot import read_revisions, read_snapshot

        options, book = self.options, LoadedRules(self.options.rules)
        program = book.program()
        self._files.append(book.find_file)
        version = options.kube_version or await session.version() or OFFLINE_KUBE_VERSION
        settings = Settings(session.namespace, options.pods, version, mnnvl_shape=options.mnnvl_shape)
        namespaces = _namespaces(self.sorted, session.namespace)
        found = await read_snapshot(session.cluster, namespaces)
        operators = await read_operators(session.cluster)
        configuration = self.config or await self._installed_configuration(session, operators, findings)
        live = await self._leave_to_leader(session, operators, found.objects)
        is_partial = bool(self.leader) or self.purpose == "delete"
        if not is_partial and (missing := [error for kind, error in found.unread.items() if kind.namespaced]):
            raise as_one([*missing])
        # Not in the snapshot: with revisions it would be a step of an operator, which changes one replica after the other.
        recorded = Snapshot((), ObjectList([*found.objects, *await read_revisions(session.cluster, namespaces)]))
        old = all_as_recorded((Document(one) for one in found.objects if one["kind"] == SET_KIND), recorded)
        inputs = Inputs(self.sorted.compiled, found.objects, old, configuration, settings)
        result = compile_inputs(inputs, program)
        installed = configuration.file if configuration is not None and configuration is not self.config else None
        diagnostics = [one for one in about_compiled(result.diagnostics) if one.severity == "error" or one.file != installed]
        if is_partial:
            unknown = "" if configuration or self._has_configuration() else unknown_configuration(operators)
            self.unread = [*(kind.plural for kind in found.unread), *filter(None, [unknown])]
        if self.unread:
            diagnostics = _as_far_as_known(diagnostics, program)
        elif self.leader and not has_errors(diagnostics):
            self.effects = self._effects(inputs, live, recorded, program, result.graph)
        findings += diagnostics
        return result.graph

    async def _leave_to_leader(
        self, session: Session, operators: Sequence[InstalledOperator] | None, snapshot: Sequence[Manifest]
    ) -> list[Manifest]:
        """Finds what leads the sets and topologies of the files, unless they are to be written with all; returns those that exist."""
        from grove_cli.queries.installed import hidden_operator, leading_operator

        subjects = self._subjects(session)
        live = [one for one in snapshot if Ref.of(one) in subjects]
        if subjects and not self.options.children:
            self.leader = leading_operator(operators, live, session.clock())
            if not self.leader and operators != []:
                namespaces = sorted(_namespaces(self.sorted, session.namespace))
                self.leader = await hidden_operator(session.cluster, operators, snapshot, namespaces)
        self.led = [*subjects] if self.leader else []
        return live

    def _effects(self, inputs: Inputs, live: Sequence[Manifest], recorded: Snapshot, program: Program, after: CompiledGraph) -> list[Step]:
        """Returns what an operator that follows the edit changes; nothing where nobody knows what there is."""
        from grove_cli.cluster.effects import effects_of
        from grove_cli.compilation import NO_SET
        from grove_compiler.compile import compile as compile_inputs
        from grove_compiler.old_states import all_as_followed

        followed = all_as_followed(map(Document, live), recorded)
        former = compile_inputs(replace(inputs, documents=[*followed, *(item.document for item in self.sorted.references)]), program)
        is_known = not has_errors([one for one in former.diagnostics if one.code != NO_SET])  # there was none where all are new
        return effects_of(former.graph, after) if is_known else []

    async def _installed_configuration(
        self, session: Session, operators: Sequence[InstalledOperator] | None, findings: list[Diagnostic]
    ) -> Document | None:
        """Returns the configuration of the operator in the cluster; none if one is given, by its option or among the manifests."""
        from grove_cli.queries.installed import installed_configuration

        if self._has_configuration() or (found := await installed_configuration(session.cluster, operators)) is None:
            return None
        reader = InputReader()
        configuration = reader.configuration(found)
        findings += reader.problems
        self._files.append(reader.find_file)
        return configuration

    def _has_configuration(self) -> bool:
        """Returns whether a configuration is given, by its option or among the manifests."""
        from grove_compiler.decoder import CONFIGURATION_KIND

        values = (value for document in self.sorted.compiled for _, value in objects_in(document.value))
        return bool(self.options.config) or any(isinstance(value, dict) and value.get("kind") == CONFIGURATION_KIND for value in values)

    def _subjects(self, session: Session) -> set[Ref]:
        """Returns the sets and topologies of the files. A topology has no namespace."""
        found = {Ref.of(item.manifest) for item in self.sorted.subjects}
        return found | {ref._replace(namespace=session.namespace) for ref in found if not ref.namespace}

    def _report(self, findings: list[Diagnostic]) -> None:
        if findings:
            from grove_cli.findings import write  # only when something is wrong

            write(findings, *self._files)
            if self.options.strict or has_errors(findings):
                raise Reported

    def _selects(self) -> Callable[[Manifest], bool] | None:
        if not self.options.selector:
            return None
        from kube_objects.label_selector import Selector  # only with -l

        try:
            return Selector(self.options.selector).matches
        except ValueError as error:
            raise Failed(f"-l: {error}") from None

    async def _served(self, session: Session, subjects: Sequence[Item]) -> list[Item]:
        """Returns the sets and topologies whose kinds the server serves: they are applied as well, as owners of the compiled objects."""
        served = []
        for subject in subjects:
            try:
                await session.cluster.resource(Kind.of(subject.manifest))
                served.append(subject)
            except UnknownKind:
                continue
        return served


def _as_far_as_known(diagnostics: Sequence[Diagnostic], program: Program) -> list[Diagnostic]:
    """Returns the diagnostics of who may not read all that rules ask: what others may know better is a warning."""
    from grove_compiler.engine.runtime.failure import FAILED
    from grove_compiler.engine.sources import BUILT_IN

    refutable = REFUTABLE | {FAILED, *(rule.id for rule in program.rules if rule.origin != BUILT_IN)}
    return [replace(one, severity="warning") if one.code in refutable else one for one in diagnostics]


def _namespaces(found: Classified, default: str) -> set[str]:
    """Returns the namespaces of the sets."""
    return {str((item.manifest.get("metadata") or {}).get("namespace") or default) for item in found.subjects}


async def _check_kinds(session: Session, objects: Collection[Desired]) -> None:
    """Raises `Failed` with a line for each kind that neither the server nor these objects know."""
    defined = defined_scopes(desired.manifest for desired in objects)
    problems = []
    for kind in {Kind.of(desired.manifest): None for desired in objects}:
        if (kind.group, kind.kind) not in defined:
            try:
                await session.cluster.resource(kind)
            except UnknownKind as error:
                problems.append(missing_kind(kind, str(error)))
    if problems:
        raise Failed(*problems)


def missing_kind(kind: Kind, error: str) -> str:
    """Returns the error about a kind that the server does not serve, with a hint for our kinds."""
    return f"{error}: {DEFINITIONS}" if _is_ours(kind) else error


def _is_ours(kind: Kind) -> bool:
    return kind.group == "grove.io" or kind.group.endswith(".grove.io")


def _is_compiled_for_others(desired: Desired) -> bool:
    return is_compiled(desired) and not _is_ours(Kind.of(desired.manifest))
