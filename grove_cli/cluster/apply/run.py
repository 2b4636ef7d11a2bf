"""Runs `grove apply`, and prints its progress and result."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from applier.decision import hide_secrets
from applier.desired import Graph
from applier.events import Sink
from applier.outcome import UNDONE, Action, Outcome
from applier.ref import Kind, Manifest, Ref
from grove_cli import output as outputs
from grove_cli.cluster.lines import SUFFIXES, OutcomeLines, WaitLines
from grove_cli.cluster.listeners import Relay
from grove_cli.cluster.session import Failed, Session, SignalExit, graceful_once_planned, program_of, say
from grove_cli.cluster.step_lines import effects_line
from grove_cli.cluster.words import Folding, name_of, run_report, tally
from grove_cli.exit_codes import EXIT_ERROR, EXIT_OK
from grove_cli.terminal import Terminal, terminal_of
from grove_compiler.record import record
from kube_objects.manifest import without_managed_fields
from kube_objects.words import counted

if TYPE_CHECKING:
    from applier.plan import SavedPlan
    from applier.run.options import Report, WaitFor
    from grove_cli.cluster.applyset import ApplySetChoice
    from grove_cli.cluster.input import ClusterInput

MAX_PLAN = 1 << 30


@record
class ApplyFlags:
    """The options of an apply. `dry_run` is `none`, `client` or `server`; `wait` is in seconds."""

    field_manager: str
    plan: str | None
    dry_run: str
    wait: float | None
    journal: str | None
    output: str


class ApplyRun:
    """One run of `grove apply`. `source` is none for a saved plan without files; `namespace` is that of `-n`, empty without."""

    def __init__(
        self, choices: ApplyFlags, source: ClusterInput | None, force: tuple[str, ...], applyset: ApplySetChoice, namespace: str
    ) -> None:
        self.namespace = namespace
        self.choices, self.source, self.force, self.applyset = choices, source, force, applyset
        self.terminal = terminal_of(sys.stdout)
        self.ended = SignalExit()
        self.is_live = choices.output == "text" and _is_terminal()
        self.lines = OutcomeLines(self.terminal, suffix=SUFFIXES.get(choices.dry_run, ""), quiet=self.is_live)
        self.waits = WaitLines()
        self.objects = WrittenObjects()
        self.after_write = self.objects.add if choices.output == "yaml" else None
        self.sink: Sink = self._sinks()

    def _sinks(self) -> Sink:
        if self.choices.output != "text":
            return self.waits.sink
        return self.lines.sink if self.is_live else Relay(self.lines.sink, self.waits.sink)

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Draws the progress while entered, if the output is a terminal."""
        if not self.is_live:
            yield
            return
        from grove_cli.cluster.apply.progress import ApplyProgress

        with ApplyProgress() as progress:
            self.lines.out = progress.out
            self.sink = Relay(progress.sink, self.lines.sink)
            yield

    async def work(self, session: Session) -> int:
        """Applies, prints the outcomes, and returns the exit code."""
        try:
            report = await self._report(session)
            if self.choices.output == "yaml":
                is_local = self.choices.dry_run == "client" and self.choices.plan is None
                await self.objects.complete(report.outcomes, session, is_local=is_local)
        finally:
            self.waits.end()
            if self.choices.output == "text":
                self.lines.end()
        self._print(report)
        not_ready = Folding()
        for waited in report.waited:
            if waited.reason:
                not_ready.add(waited.ref, waited.reason)
        not_ready.end()
        for error in report.errors:
            say(error)
        if report.ok:
            if self.source is not None and (line := effects_line(self.source)):
                say(line)
            return EXIT_OK
        return self.ended.code or EXIT_ERROR

    async def _report(self, session: Session) -> Report:
        if self.choices.plan is not None:
            return await self._saved(self.choices.plan, session)
        graph = await self._graph(session)
        assert graph is not None
        self.objects.graph = graph
        if self.choices.dry_run == "client":
            return await self._planned(graph, session)
        from applier.run.options import ApplyOptions
        from applier.run.pipeline import apply
        from applier.stop import Stop

        choices, stop, wait = self.choices, Stop(), self._wait_for()
        with graceful_once_planned(stop, self.ended, self.sink) as sink:
            return await apply(
                graph,
                session.cluster,
                ApplyOptions(
                    choices.field_manager,
                    force_conflicts=self.force,
                    applyset=await self.applyset.options(session, self.led),
                    wait=wait,
                    dry_run=choices.dry_run == "server",
                    sink=sink,
                    stop=stop,
                    after_write=self.after_write,
                ),
            )

    async def _planned(self, graph: Graph, session: Session) -> Report:
        """Plans only, for a client-side dry run."""
        from applier.run.live_state import survey
        from applier.run.options import ApplyOptions, Report

        applyset = await self.applyset.options(session, self.led)
        options = ApplyOptions(self.choices.field_manager, force_conflicts=self.force, applyset=applyset)
        result = await survey(graph, session.cluster, options)
        outcomes = [Outcome.of(step) for step in result.plan.steps]
        return Report(outcomes, approval=result.approval)

    async def _graph(self, session: Session) -> Graph | None:
        """Returns the graph of the files; None without any."""
        graph = await self.source.graph(session) if self.source is not None else None
        self.lines.order = {ref: number for number, ref in enumerate(graph.objects)} if graph is not None else {}
        return graph

    @property
    def led(self) -> Sequence[Ref]:
        """The sets whose operator writes what they become; known once the graph is."""
        return self.source.led if self.source is not None else ()

    def _wait_for(self) -> WaitFor | None:
        if self.choices.wait is None:
            return None
        from applier.run.options import WaitFor
        from grove_cli.queries.live_states import readiness_rules

        folders = self.source.options.rules if self.source is not None else ()
        return WaitFor(self.choices.wait, readiness_rules(program_of(folders)))

    async def _saved(self, path: str, session: Session) -> Report:
        from applier.execute.options import ExecuteOptions
        from applier.run.pipeline import OutOfDate, apply_saved
        from applier.stop import Stop

        saved, stop, wait = _load(path), Stop(), self._wait_for()
        if self.namespace not in ("", saved.namespace):
            raise Failed(f"{path}: was planned for the namespace {saved.namespace}, not for -n {self.namespace}; create a new plan")
        # With another default namespace than that of the plan the files would be another input.
        graph = await self._graph(replace(session, namespace=saved.namespace))
        if graph is not None:
            saved = saved.with_input(graph)
        self.objects.graph = saved.graph
        try:
            with graceful_once_planned(stop, self.ended, self.sink) as sink:
                options = ExecuteOptions(dry_run=self.choices.dry_run != "none", sink=sink, stop=stop, after_write=self.after_write)
                return await apply_saved(saved, session.cluster, options, wait)
        except OutOfDate as error:
            raise Failed(*_out_of_date(path, error.reasons)) from None

    def _print(self, report: Report) -> None:
        """Prints the outcomes that were not printed during the run."""
        if self.choices.output == "text":
            self.lines.rest(report.outcomes)
            if self.is_live:
                self.lines.out(summary(report, self.terminal))
            return
        done = [outcome for outcome in report.outcomes if outcome.action not in UNDONE]
        self.lines.rest([outcome for outcome in report.outcomes if outcome.action in UNDONE])
        outputs.write(self.objects.as_yaml() if self.choices.output == "yaml" else _encoded(self.choices.output, done, report))


def summary(report: Report, terminal: Terminal) -> str:
    """Returns `2 created, 998 unchanged in 0.4 s with 9 requests`."""
    took = f"in {report.seconds:.1f} s"
    requests = report.requests.total()
    return terminal.paint(tally(report.counts), "1") + f" {took}" + (f" with {counted(requests, 'request')}" if requests else "")


def _encoded(output: str, done: Sequence[Outcome], report: Report) -> Iterable[bytes]:
    if output == "name":
        return [f"{name_of(outcome.step.ref)}\n".encode() for outcome in done if outcome.action is not Action.PRUNED]
    return [outputs.json_report(run_report(report))]


def _load(path: str) -> SavedPlan:
    """Reads a saved plan. Raises `Failed` for an invalid one, and `OSError` for a file that cannot be read."""
    from applier.plan import InvalidPlan, load

    with open(path, "rb") as stream:
        data = stream.read(MAX_PLAN + 1)
    if len(data) > MAX_PLAN:
        raise Failed(f"{path}: larger than {MAX_PLAN >> 20} MiB, the limit of saved plans")
    try:
        return load(data)
    except InvalidPlan as error:
        raise Failed(f"{path}: {error}") from None


def _out_of_date(path: str, reasons: Sequence[str]) -> list[str]:
    """Returns why a plan is out of date, as lines. A reason is an object and its change."""
    lines: list[str] = []
    folding = Folding(lines.append, full="")
    for reason in reasons:
        folding.line(f"{path}: is no longer valid: {reason}", reason.partition(" ")[2])
    folding.end()
    return lines


def _is_terminal() -> bool:
    """Returns whether both output streams are a terminal that supports cursor movement."""
    import os

    try:
        return sys.stdout.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        return False


class WrittenObjects:
    """Collects the server's responses to writes (`after_write`), and reads unchanged objects. Values of Secrets are hidden."""

    def __init__(self) -> None:
        self.by_ref: dict[Ref, Manifest] = {}
        self.graph = Graph([])

    def add(self, manifest: Manifest) -> None:
        """Adds a written object without its `managedFields`, which kubectl omits as well."""
        self.by_ref[Ref.of(manifest)] = hide_secrets(without_managed_fields(manifest))

    async def complete(self, outcomes: Iterable[Outcome], session: Session, *, is_local: bool) -> None:
        """Adds the objects that were not written: live ones, or for a client-side dry run (`is_local`) the manifests to be sent."""
        from applier.cache.snapshot import by_place, read_once

        missing = [outcome for outcome in outcomes if outcome.step.ref in self.graph.objects and outcome.step.ref not in self.by_ref]
        unchanged = []
        for outcome in missing:
            manifest = self.graph.objects[outcome.step.ref].manifest
            if outcome.action in (Action.UNCHANGED, Action.YIELDED):
                unchanged.append((Kind.of(manifest), outcome.step.ref))
            elif is_local and outcome.action not in UNDONE:
                self.add(manifest)
        live = await read_once(session.cluster, by_place(unchanged))
        for _, ref in unchanged:
            if (current := live.get(ref)) is not None:  # it may have been deleted meanwhile
                self.add(current)

    def as_yaml(self) -> Iterable[bytes]:
        """Returns the objects as YAML documents, in the order of the graph."""
        return outputs.as_yaml([self.by_ref[ref] for ref in self.graph.objects if ref in self.by_ref])
