"""How an apply gets on, live on a terminal: a bar, what is under way, and what it waits for."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from applier.events import Event, Finished, Planned, Ready, Started, Throttled, Waiting
from applier.outcome import Action
from applier.ref import Ref
from grove_operator.cli.cluster_words import name_of
from grove_operator.cli.terminal import visible

MOST_NAMES = 3
QUIET = frozenset({Action.UNCHANGED, Action.YIELDED})


class ApplyProgress:
    """Draws on standard error while it is entered; `out` prints a line of standard output above the bar."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.progress = Progress(
            SpinnerColumn(), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"),
            console=self.console, transient=True,
        )  # fmt: skip
        self.task: TaskID | None = None
        self.under_way: dict[Ref, None] = {}
        self.waiting: dict[Ref, str] = {}

    def __enter__(self) -> ApplyProgress:
        self.progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.progress.stop()

    def out(self, line: str) -> None:
        """A line that stays."""
        self.console.print(Text.from_ansi(line))

    def sink(self, event: Event) -> None:
        """Takes events as they come."""
        if isinstance(event, Planned):
            writes = sum(count for action, count in event.counts.items() if action not in QUIET)
            self.task = self.progress.add_task("", total=writes)
        elif isinstance(event, Started):
            self.under_way[event.step.ref] = None
        elif isinstance(event, Finished):
            self.under_way.pop(event.outcome.step.ref, None)
            if self.task is not None and event.outcome.step.action not in QUIET:
                self.progress.advance(self.task)
        elif isinstance(event, Waiting):
            self.waiting[event.ref] = event.reason
        elif isinstance(event, Ready):
            self.waiting.pop(event.ref, None)
        self._describe(event)

    def _describe(self, event: Event) -> None:
        if self.task is None:
            return
        text = under_way(list(self.under_way), self.waiting)
        if isinstance(event, Throttled):
            text = f"the server asks to slow down: {event.seconds:.1f} s, {event.in_flight} at once"
        self.progress.update(self.task, description=Text(text).markup)


def under_way(writing: list[Ref], waiting: dict[Ref, str]) -> str:
    """What is being written; when nothing is, what is waited for, and why."""
    if writing:
        more = len(writing) - MOST_NAMES
        return ", ".join(visible(name_of(ref)) for ref in writing[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    if waiting:
        ref, reason = next(iter(waiting.items()))
        others = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        return f"waits for {visible(name_of(ref))}{others}: {visible(reason)}"
    return ""
