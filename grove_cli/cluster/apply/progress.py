"""Draws the progress of an apply on a terminal: a bar, the objects in progress, and waits."""

from __future__ import annotations

from collections.abc import Collection
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TimeElapsedColumn
from rich.text import Text

from applier.events import Event, Finished, Planned, Ready, Started, Throttled, Waiting
from applier.outcome import QUIET
from applier.ref import Ref
from grove_cli.cluster.words import name_of
from grove_cli.terminal import visible
from kube_objects.words import listed


class ApplyProgress:
    """Draws a progress bar on standard error while entered; `out` prints lines above it."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.progress = Progress(
            SpinnerColumn(), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(), _InProgress(self),
            console=self.console, transient=True,
        )  # fmt: skip
        self.task: TaskID | None = None
        self.in_progress: dict[Ref, None] = {}
        self.waiting: dict[Ref, str] = {}
        self.throttled = ""

    def __enter__(self) -> ApplyProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.progress.stop()

    def out(self, lines: str) -> None:
        """Prints lines above the bar."""
        self.console.print(Text.from_ansi(lines))

    def sink(self, event: Event) -> None:
        """Receives events, which are drawn some times a second."""
        if isinstance(event, Planned):
            self._begin(sum(count for action, count in event.counts.items() if action not in QUIET))
        elif isinstance(event, Started):
            self.in_progress[event.step.ref] = None
            self.throttled = ""
        elif isinstance(event, Finished):
            self.in_progress.pop(event.outcome.step.ref, None)
            if self.task is not None and event.outcome.step.action not in QUIET:
                self.progress.advance(self.task)
        elif isinstance(event, Waiting):
            self.waiting[event.ref] = event.reason
            self._begin(0)
        elif isinstance(event, Ready):
            self.waiting.pop(event.ref, None)
        elif isinstance(event, Throttled):
            self.throttled = f"the server throttles requests: {event.seconds:.1f} s, {event.in_flight} at once"

    def describe(self) -> str:
        """Returns a description of the objects in progress."""
        return self.throttled or in_progress(self.in_progress, self.waiting)

    def _begin(self, writes: int) -> None:
        """Shows the bar if there are writes or waits."""
        if self.task is None and (writes or self.waiting):
            self.task = self.progress.add_task("", total=writes)
            self.progress.start()


class _InProgress(ProgressColumn):
    """The column with the description, computed when it is drawn."""

    def __init__(self, progress: ApplyProgress) -> None:
        super().__init__()
        self.of = progress

    def render(self, task: Task) -> Text:  # noqa: ARG002 - there is only one
        return Text(self.of.describe(), overflow="ellipsis", no_wrap=True)


def in_progress(writing: Collection[Ref], waiting: dict[Ref, str]) -> str:
    """Returns the objects being written; if there are none, the one that is waited for and its reason."""
    if writing:
        return listed(visible(name_of(ref)) for ref in list(writing))
    if waiting:
        ref, reason = next(iter(list(waiting.items())))
        others = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        return f"waits for {visible(name_of(ref))}{others}: {visible(reason)}"
    return ""
