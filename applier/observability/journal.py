"""Writes a journal of runs: an append-only file with one line of JSON for each event."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal

from applier.events import Adapted, Event, Finished, Planned, Ready, Retried, RunEnded, Started, Throttled, Waiting, WaveStarted
from applier.outcome import FieldChange, Outcome, Step, dotted

Sync = Literal["never", "run", "always"]


class Journal:
    """Implements a `Sink` that appends to a file in a thread of its own, so that callers never wait for the disk.

    `sync` is when the file is synced to disk: never, at the end of each run, or after every line. `run` identifies the lines of this
    process; random by default. Lines that cannot be written are counted in `lost`, with the first error in `error`; nothing is raised.
    As a context manager it is closed at the end, after all events are written.
    """

    def __init__(self, path: Path, *, sync: Sync = "run", run: str = "", now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.run, self.lost = run or uuid.uuid4().hex[:12], 0
        self.error: OSError | None = None
        self._sync, self._now = sync, now
        self._file = _opened(path)
        self._lines: queue.SimpleQueue[tuple[bytes, bool] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_all, name="journal", daemon=True)
        self._writer.start()

    def __call__(self, event: Event) -> None:
        record = {"time": self._now().astimezone(UTC).isoformat(timespec="milliseconds"), "run": self.run, **event_line(event)}
        text = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        self._lines.put((text, self._sync == "always" or (self._sync == "run" and isinstance(event, RunEnded))))

    def close(self) -> None:
        """Writes the remaining lines, syncs them unless `sync` is never, and closes the file. Idempotent."""
        if not self._file.closed:
            self._lines.put(None)
            self._writer.join()
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _write_all(self) -> None:
        while True:
            batch, is_last = self._next_batch()
            try:
                self._file.write(b"".join(text for text, _ in batch))
                if any(sync for _, sync in batch) or (is_last and self._sync != "never"):
                    os.fsync(self._file.fileno())
            except OSError as error:
                self.error = self.error or error
                self.lost += len(batch)
            if is_last:
                return

    def _next_batch(self) -> tuple[list[tuple[bytes, bool]], bool]:
        """Returns all queued lines, after waiting for the first, and whether they are the last."""
        batch: list[tuple[bytes, bool]] = []
        record = self._lines.get()
        while record is not None:
            batch.append(record)
            try:
                record = self._lines.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True


def _opened(path: Path) -> BinaryIO:
    """Opens the file for appending, unbuffered. Terminates a line that was truncated by a crash, so that it does not spoil the next."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = False
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
    opened = path.open("ab", buffering=0)
    if torn:
        opened.write(b"\n")
    return opened


def event_line(event: Event) -> dict[str, Any]:
    """Returns an event as JSON. Fields have only their path and managers, since the value of any field may be secret."""
    match event:
        case Planned(counts, waves):
            return {"event": "planned", "counts": {str(action): count for action, count in counts.items()}, "waves": waves}
        case WaveStarted(number, objects):
            return {"event": "wave", "wave": number, "objects": objects}
        case Started(step):
            return {"event": "started", **_step(step)}
        case Finished(outcome):
            return {"event": "finished", **_outcome(outcome)}
        case Waiting(ref, reason):
            return {"event": "waiting", "object": str(ref), "reason": reason}
        case Ready(ref, seconds):
            return {"event": "ready", "object": str(ref), "seconds": _rounded(seconds)}
        case Throttled(seconds, in_flight):
            return {"event": "throttled", "seconds": _rounded(seconds), "in_flight": in_flight}
        case Adapted(in_flight, per_second):
            return {"event": "adapted", "in_flight": in_flight, "per_second": round(per_second, 1)}
        case Retried(ref, attempt, why):
            return {"event": "retried", **({"object": str(ref)} if ref else {}), "attempt": attempt, "reason": why}
        case RunEnded(counts, seconds, requests):
            by_action = {str(action): count for action, count in counts.items()}
            return {"event": "ended", "counts": by_action, "seconds": _rounded(seconds), "requests": requests}


def _step(step: Step) -> dict[str, Any]:
    fields = {"object": str(step.ref), "action": str(step.action), "reason": step.reason, "uid": step.uid, "wave": step.wave}
    return {key: value for key, value in fields.items() if value != ""}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    fields = {**_step(outcome.step), "action": str(outcome.action), "seconds": _rounded(outcome.seconds)}
    fields["reason"] = outcome.reason or outcome.step.reason
    fields["uid"] = outcome.uid or outcome.step.uid
    if outcome.action != outcome.step.action:
        fields["meant"] = str(outcome.step.action)
    if outcome.error is not None:
        fields["error"] = type(outcome.error).__name__
    if outcome.step.changes:
        fields["fields"] = [_change(change) for change in outcome.step.changes]
    return {key: value for key, value in fields.items() if value != ""}


def _change(change: FieldChange) -> dict[str, Any]:
    owners = [{"manager": owner.manager, "operation": owner.operation, "time": owner.time} for owner in change.owners]
    return {"path": dotted(change.path), **({"owners": owners} if owners else {})}


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
