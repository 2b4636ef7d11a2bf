"""What becomes of objects, a line each as it happens: `configmap/settings created`, as kubectl says it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from applier.events import Event, Finished, Ready, Sink, Throttled, Waiting, WaveStarted
from applier.outcome import UNDONE, Action, Outcome
from applier.ref import Ref
from grove_operator.cli.cluster.fold import Folding
from grove_operator.cli.cluster.words import COLOURS, name_of, reason_of
from grove_operator.terminal import Terminal, visible

if TYPE_CHECKING:
    import asyncio

NO_WORDS: Mapping[str, str] = {}
SERVER, CLIENT = " (server dry run)", " (dry run)"
"""kubectl's words behind an object that was not really written."""

MOMENT = 1.0
"""Seconds in which of the objects that wait for one same reason only the first are named."""


class Lines:
    """Prints outcomes: to standard output what was done, to standard error what was not.

    They come wave by wave, those of one wave in the order of `order`: the same lines in the same order, whatever is done sooner. What was
    done is a line each, as kubectl has it; what was not is told at once for the first objects of each reason, and folded in the end.
    `suffix` stands behind each line. `quiet` leaves out objects that stay as they are. `words` are other words for actions.
    """

    def __init__(
        self,
        terminal: Terminal,
        *,
        suffix: str = "",
        quiet: bool = False,
        words: Mapping[str, str] = NO_WORDS,
        out: Callable[[str], None] | None = None,
    ) -> None:
        self.terminal, self.suffix, self.quiet, self.words = terminal, suffix, quiet, words
        self.out = out or _print
        self.said: set[Ref] = set()
        self.undone = Folding()
        self.order: Mapping[Ref, int] = {}
        self._wave: list[Outcome] = []

    def sink(self, event: Event) -> None:
        """Takes events as they come."""
        if isinstance(event, WaveStarted | Waiting | Ready):
            self.flush()
        elif isinstance(event, Finished):
            self._wave.append(event.outcome)

    def flush(self) -> None:
        """Tells what was finished since the wave began."""
        wave, self._wave = self._wave, []
        self.tell(sorted(wave, key=lambda outcome: self.order.get(outcome.step.ref, len(self.order))))

    def rest(self, outcomes: Sequence[Outcome]) -> None:
        """Tells what has not been told yet."""
        self.flush()
        self.tell([outcome for outcome in outcomes if outcome.step.ref not in self.said])
        self.end()

    def end(self) -> None:
        """Tells all that is left of what happened so far."""
        self.flush()
        self.undone.end()

    def tell(self, outcomes: Iterable[Outcome]) -> None:
        """Prints lines for outcomes, together: on a terminal with a bar below them, each by itself would take long."""
        lines = []
        for outcome in outcomes:
            self.said.add(outcome.step.ref)
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
    """Says on standard error what is waited for: each object when it is ready, and when the reason changes why it is not.

    What is learnt of many objects within a moment is folded; `end` tells what is left of it.
    """

    def __init__(self) -> None:
        self._waiting = Folding(_note, "")
        self._due: asyncio.TimerHandle | None = None

    def sink(self, event: Event) -> None:
        """Takes events as they come."""
        if isinstance(event, Waiting):
            why = event.reason if event.reason.startswith("waits for ") else f"waits: {event.reason}"
            self._waiting.add(event.ref, why, f"{name_of(event.ref)} {why}")
            self._end_soon()
        elif isinstance(event, Ready):
            word = f": {event.reason}" if event.reason else ""
            _note(f"{name_of(event.ref)} ready after {event.seconds:.1f} s{word}")
        elif isinstance(event, Throttled):
            _note(f"the server asks to slow down: next try in {event.seconds:.1f} s")

    def end(self) -> None:
        """Tells how many more wait than were named, and begins anew."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        self._waiting.end()

    def _end_soon(self) -> None:
        import asyncio  # not at the start

        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(MOMENT, self.end)


def _note(line: str) -> None:
    print(visible(line), file=sys.stderr)


def to_all(*sinks: Sink) -> Sink:
    """Returns a sink that hands events on to several."""

    def sink(event: Event) -> None:
        for one in sinks:
            one(event)

    return sink


def _print(line: str) -> None:
    print(line, flush=True)
