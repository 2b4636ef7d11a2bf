"""Draws the progress of a rollout on a terminal."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from grove_cli.queries.rollout.progress import RolloutProgress, message_of
from grove_cli.terminal import visible


class RolloutBar:
    """Draws a bar of updated pods on standard error while entered, with what it waits for."""

    def __init__(self, console: Console | None = None) -> None:
        message = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1), markup=False)
        columns = SpinnerColumn(), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(), message
        self._progress = Progress(*columns, console=console or Console(stderr=True, highlight=False), transient=True, expand=True)
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> RolloutBar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def show(self, rollout: RolloutProgress) -> None:
        """Draws the progress; nothing for a rollout that has ended before."""
        if not rollout.is_over:
            self._progress.start()
        self._progress.update(self._task, total=rollout.pods or None, completed=rollout.updated, description=visible(message_of(rollout)))
