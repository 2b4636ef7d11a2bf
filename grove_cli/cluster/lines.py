"""Prints the outcome of each object as it happens: `configmap/settings created`, as kubectl does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from applier.events import Event, Finished, Ready, Throttled, Waiting, WaveStarted
from applier.outcome import UNDONE, Action, Outcome
from applier.ref import Ref
from grove_cli.cluster.words import COLOURS, Folding, name_of, reason_of
from grove_cli.terminal import Terminal, visible

if TYPE_CHECKING:
    import asyncio

NO_WORDS: Mapping[str, str] = {}
SERVER, CLIENT = " (server dry run)", " (dry run)"
"""kubectl's suffixes of objects in a dry run."""
SUFFIXES = {"client": CLIENT, "server": SERVER}
"""Those of the values of `--dry-run`."""

FOLDING_PERIOD = 1.0
"""Seconds in which of the objects that wait for the same reason only the first are printed by name."""


class OutcomeLines:
    """Prints outcomes: successes to standard output, failures to standard error.

    The lines of a wave are sorted by `order`, so that the output does not depend on the timing of requests. Failures are printed at once
    for the first objects of each reason, and counted at the end. `suffix` is appended to each line. `quiet` omits unchanged objects.
    `words` are alternative words for actions.
    """

    def __init__(
        self,
        terminal: Terminal,
        *,
        suffix: str = "",
        quiet: bool = False,
        words: Mapping[str, str] = NO_WORDS,
    ) -> None:
        self.terminal, self.suffix, self.quiet, self.words = terminal, suffix, quiet, words
        self.out: Callable[[str], None] = _print
        self.printed: set[Ref] = set()
        self.undone = Folding()
        self.order: Mapping[Ref, int] = {}
        self._wave: list[Outcome] = []

    def sink(self, event: Event) -> None:
        """Receives events."""
        if isinstance(event, WaveStarted | Waiting | Ready):
            self.flush()
        elif isinstance(event, Finished):
            self._wave.append(event.outcome)

    def flush(self) -> None:
        """Prints the outcomes of the current wave."""
        wave, self._wave = self._wave, []
        self.print(sorted(wave, key=lambda outcome: self.order.get(outcome.step.ref, len(self.order))))

    def rest(self, outcomes: Sequence[Outcome]) -> None:
        """Prints the outcomes that were not printed yet, and the counts."""
        self.flush()
        self.print([outcome for outcome in outcomes if outcome.step.ref not in self.printed])
        self.end()

    def end(self) -> None:
        """Prints what is pending, and the counts."""
        self.flush()
        self.undone.end()

    def print(self, outcomes: Iterable[Outcome]) -> None:
        """Prints outcomes in one write: above a progress bar separate writes would be slow."""
        lines = []
        for outcome in outcomes:
            self.printed.add(outcome.step.ref)
            if outcome.action in UNDONE:
                self.undone.add(outcome.step.ref, f"{outcome.action}: {reason_of(outcome)}")
            elif not self.quiet or outcome.action is not Action.UNCHANGED:
                lines.append(self._line(outcome))
        if lines:
            self.out("\n".join(lines))

    def _line(self, outcome: Outcome) -> str:
        action = outcome.action
        word = self.words.get(action, str(action))
        word = self.terminal.paint(word, COLOURS[action]) if action in COLOURS else word
        return f"{visible(name_of(outcome.step.ref))} {word}{self.suffix}"


class WaitLines:
    """Prints waits to standard error: each object when it becomes ready, and the reason for which it is not, when that changes.

    Equal reasons within the folding period are folded; `end` prints their counts.
    """

    def __init__(self) -> None:
        self._waiting = Folding(_note, "")
        self._timer: asyncio.TimerHandle | None = None

    def sink(self, event: Event) -> None:
        """Receives events."""
        if isinstance(event, Waiting):
            why = event.reason if event.reason.startswith("waits for ") else f"waits: {event.reason}"
            self._waiting.add(event.ref, why, f"{name_of(event.ref)} {why}")
            self._end_soon()
        elif isinstance(event, Ready):
            word = f": {event.reason}" if event.reason else ""
            _note(f"{name_of(event.ref)} ready after {event.seconds:.1f} s{word}")
        elif isinstance(event, Throttled):
            _note(f"the server throttles requests: next attempt in {event.seconds:.1f} s")

    def end(self) -> None:
        """Prints the counts, and ends the folding period."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._waiting.end()

    def _end_soon(self) -> None:
        import asyncio  # not at the start

        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FOLDING_PERIOD, self.end)


def _note(line: str) -> None:
    print(visible(line), file=sys.stderr)


def _print(line: str) -> None:
    print(line, flush=True)
