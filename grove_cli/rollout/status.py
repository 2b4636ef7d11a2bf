"""Shows the progress of a rollout: a bar on a terminal, a line for each change elsewhere."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from grove_cli import output as outputs
from grove_cli.age import age
from grove_cli.cluster.get.watch import readings
from grove_cli.cluster.session import Session, say
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.queries.rollout.progress import RolloutProgress, message_of, read_progress
from grove_cli.terminal import visible

Show = Callable[[RolloutProgress], None]


async def show_status(session: Session, name: str, *, watch: bool, timeout: float | None, output: str) -> int:
    """Shows the progress until the rollout has ended or is late, or once, and returns the exit code.

    Raises `ClusterError`, `NoSuchObject`.
    """
    last: RolloutProgress | None = None

    async def read() -> RolloutProgress:
        return await read_progress(session.cluster, name, session.namespace)

    try:
        with _shown(output, watch) as show:
            async with asyncio.timeout(timeout), aclosing(readings(session.cluster, read, session.namespace)) as readings_of_it:
                async for progress in readings_of_it:
                    last = progress
                    show(progress)
                    if progress.is_over or progress.is_late or not watch:
                        break
    except TimeoutError:
        assert timeout is not None
        how = f": {message_of(last)}" if last else ""
        say(f"timed out after {age(timeout)}{how}")
    if last is not None:
        _end(last, output, watch)
    return 0 if last is not None and last.is_over else EXIT_FINDINGS


def progress_value(progress: RolloutProgress) -> dict[str, Any]:
    """Returns the progress as a JSON value."""
    return {
        "namespace": progress.namespace,
        "name": progress.name,
        "state": progress.state,
        "pods": progress.pods,
        "updatedPods": progress.updated,
        "readyPods": progress.ready,
        "replicas": progress.replicas,
        "availableReplicas": progress.available,
        **({} if progress.updating is None else {"updatingReplica": progress.updating}),
        "message": message_of(progress),
    }


def _end(last: RolloutProgress, output: str, watch: bool) -> None:
    if output == "json":
        outputs.write_report(progress_value(last))
    elif last.is_over or last.is_late or not watch:
        outputs.write_text(f"{visible(message_of(last))}\n")


@contextmanager
def _shown(output: str, watch: bool) -> Iterator[Show]:
    """Yields the function that shows progress until the rollout has ended. JSON and a single look have a last word only."""
    if output == "json" or not watch:
        yield lambda _: None
    elif sys.stderr.isatty() and sys.stdout.isatty():
        from grove_cli.rollout.bar import RolloutBar  # brings rich

        with RolloutBar() as bar:
            yield bar.show
    else:
        yield ProgressLines().show


class ProgressLines:
    """Prints a line for each change of the message."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, progress: RolloutProgress) -> None:
        """Prints the progress unless it was printed, or is the last word."""
        message = message_of(progress)
        if not (progress.is_over or progress.is_late) and message != self._last:
            self._last = message
            outputs.write_text(f"{visible(message)}\n")
