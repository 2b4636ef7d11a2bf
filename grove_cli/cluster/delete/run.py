"""Runs `grove delete`, and prints its progress and result."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from applier.events import Sink
from applier.outcome import UNDONE, Action, Obstacle, Outcome, Step
from grove_cli import output as outputs
from grove_cli.cluster.lines import SUFFIXES, OutcomeLines, WaitLines
from grove_cli.cluster.listeners import Relay
from grove_cli.cluster.session import Failed, Session, SignalExit, say
from grove_cli.cluster.words import Folding, name_of, outcomes_report
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.terminal import terminal_of
from grove_compiler.record import record
from kube_objects.words import listed

if TYPE_CHECKING:
    from applier.prune.deletion import Deleter
    from applier.ref import Ref
    from grove_cli.cluster.input import ClusterInput

WORDS = {"pruned": "deleted"}
FINALIZER_HINT = (
    "finalizers are taken off by the controllers that they are named after, once their work is done: see whether these run. "
    "Where one is gone for good, and what it kept is of no use, take them off yourself, {ref} for instance: "
    """kubectl patch {name}{place} --type=merge -p '{{"metadata":{{"finalizers":null}}}}'"""
)


@record
class DeleteFlags:
    """The options of a delete. `timeout` is in seconds."""

    applyset: str
    approve: str
    ignore_not_found: bool
    cascade: str
    wait: bool
    timeout: float
    dry_run: str
    field_manager: str
    journal: str | None
    output: str


class DeleteRun:
    """One run of `grove delete`. `source` is none for the deletion of an ApplySet."""

    def __init__(self, choices: DeleteFlags, source: ClusterInput | None) -> None:
        self.choices, self.source = choices, source
        self.lines = OutcomeLines(terminal_of(sys.stdout), suffix=SUFFIXES.get(choices.dry_run, ""), words=WORDS)
        self.waits = WaitLines()
        self.ended = SignalExit()
        self.sink: Sink = Relay(self.lines.sink, self.waits.sink) if choices.output == "text" else self.waits.sink

    async def work(self, session: Session) -> int:
        """Deletes, prints the outcomes, and returns the exit code."""
        failed = False
        if self.source is None:
            outcomes = await self._set(session)
        else:
            outcomes, failed = await self._files(self.source, session)
        self._print(outcomes)
        if (stuck := _held_by_finalizers(outcomes)) is not None:
            say(FINALIZER_HINT.format(ref=stuck, name=name_of(stuck), place=f" -n {stuck.namespace}" if stuck.namespace else ""))
        # Another object of the same name than the one that was read is not deleted: that is an error for users and scripts.
        replaced = [outcome for outcome in outcomes if outcome.action is Action.UNCHANGED]
        for outcome in replaced:
            say(f"{outcome.step.ref} not deleted: {outcome.reason}")
        failed = failed or bool(replaced) or any(outcome.action in UNDONE for outcome in outcomes)
        return (self.ended.code or EXIT_ERROR) if failed else 0

    async def _files(self, source: ClusterInput, session: Session) -> tuple[list[Outcome], bool]:
        """Deletes the objects of files. Returns the outcomes, and whether objects were missing."""
        from grove_cli.queries.deletion_plan import delete_planned, plan_deletion

        graph = await source.graph(session)
        plan = await plan_deletion(graph, session.cluster, manager=self.choices.field_manager)
        missing = [] if self.choices.ignore_not_found else plan.missing
        skipped = Folding(full="")
        for ref in missing:
            skipped.add(ref, "not found")
        for ref in plan.foreign:
            skipped.add(ref, f"not deleted: it was not created by {self.choices.field_manager}")
        skipped.end()
        if plan.unread:
            kinds = dict.fromkeys(str(ref.kind) for ref in plan.unread)
            say(f"what there is of {listed([*kinds])} goes with its owner, and is not awaited: you may not read it")
        if self.choices.dry_run == "client":
            cascaded = {} if self.choices.cascade == "orphan" else plan.cascaded
            deleted = {**plan.deleted, **cascaded}.values()
            return [Outcome(Step.deletion(live), Action.PRUNED) for live in deleted], bool(missing)
        with self._deletion(session) as deletion:
            return await delete_planned(plan, graph, deletion), bool(missing)

    async def _set(self, session: Session) -> list[Outcome]:
        """Deletes the members of an ApplySet. Returns the outcomes."""
        from applier.desired import Graph
        from applier.prune import ApplySetOptions, OpenApplySet, delete_set
        from grove_cli.cluster.applyset import named_set

        applyset = await named_set(session.cluster, self.choices.applyset, session.namespace)
        opened = await OpenApplySet.open(ApplySetOptions(applyset, approval=self.choices.approve), Graph([]), session.cluster, whole=True)
        if not opened.steps and not self.choices.ignore_not_found:
            raise Failed(f"the set of {applyset.parent} has no members")
        if self.choices.dry_run == "client":
            return [Outcome.of(step) for step in opened.steps]
        with self._deletion(session) as deletion:
            return await delete_set(applyset, deletion, self.choices.approve)

    @contextmanager
    def _deletion(self, session: Session) -> Iterator[Deleter]:
        """Yields the options of the deletion. While entered, signals end it gracefully; before, they abort the program."""
        from applier.prune.deletion import Deleter
        from applier.stop import Stop, ended_by_signal

        stop = Stop()
        with ended_by_signal(stop, self.ended.by):
            yield Deleter(
                session.cluster,
                propagation=self.choices.cascade.capitalize(),
                seconds=self.choices.timeout if self.choices.wait else 0.0,
                wait_for_all=self.choices.wait,
                sink=self.sink,
                dry_run=self.choices.dry_run == "server",
                stop=stop,
            )

    def _print(self, outcomes: list[Outcome]) -> None:
        """Prints the outcomes that were not printed during the run."""
        self.waits.end()
        if self.choices.output == "text":
            self.lines.rest(outcomes)
            return
        self.lines.rest([outcome for outcome in outcomes if outcome.action in UNDONE])
        if self.choices.output == "name":
            outputs.write(f"{name_of(outcome.step.ref)}\n".encode() for outcome in outcomes if outcome.action not in UNDONE)
        else:
            outputs.write_report(outcomes_report(outcomes))


def _held_by_finalizers(outcomes: list[Outcome]) -> Ref | None:
    """Returns the first object whose finalizers delayed its deletion beyond the timeout; None if there is none."""
    return next((outcome.step.ref for outcome in outcomes if outcome.step.obstacle is Obstacle.FINALIZERS), None)
