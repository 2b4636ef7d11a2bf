"""Sends health events to the platform connector over its Unix socket, and spools those that it cannot send.

Each event is written to a spool first and removed once the connector has accepted it, so that a check which is killed or restarted
meanwhile sends it the next time. Events have ids, by which the connector can detect duplicates of an event whose response was lost.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError

from preflight_images.shared import health_event_pb2 as pb
from preflight_images.shared.outcome import HealthReport
from preflight_images.shared.settings import CheckSettings

METHOD = "/datamodels.PlatformConnector/HealthEventOccurredV1"
VERSION = 1
TRIES = 5
PAUSE, GROWTH = 2.0, 1.5
"""Seconds until the second attempt, and the factor of the backoff."""
MAX_CALL = 30.0
PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED)
"""Errors that are retried later; events rejected for other reasons are dropped."""


class Undelivered(Exception):
    """Events were spooled. The message is one line with the reason."""


class EventRefused(Exception):
    """The connector rejected an event. The message has the reason."""


class Clock(Protocol):
    """The clock of retries; tests replace it."""

    def time(self) -> float:
        """Returns seconds since the epoch."""

    def sleep(self, seconds: float) -> None:
        """Waits."""


def message_of(report: HealthReport, agent: str, settings: CheckSettings, at: float) -> pb.HealthEvent:
    """Returns a report as a health event, with an id that is the same for the same fault at the same time."""
    event = pb.HealthEvent(
        version=VERSION,
        agent=agent,
        componentClass="GPU" if report.entities else "Node",
        checkName=report.check_name,
        isFatal=report.is_fatal,
        isHealthy=report.is_healthy,
        message=report.message,
        recommendedAction=report.action.name,
        errorCode=[report.error_code] if report.error_code else [],
        entitiesImpacted=[pb.Entity(entityType="GPU_UUID", entityValue=uuid) for uuid in report.entities],
        nodeName=settings.node,
        processingStrategy=settings.strategy,
    )
    event.generatedTimestamp.FromMilliseconds(int(at * 1000))
    event.id = hashlib.sha256(event.SerializeToString(deterministic=True)).hexdigest()[:32]
    return event


class Connector:
    """Delivers events; `tell` is given one line about each try that failed."""

    def __init__(self, settings: CheckSettings, tell: Callable[[str], None], clock: Clock = time) -> None:
        self._settings, self._tell, self._clock = settings, tell, clock
        self._spool = Path(settings.spool)

    def keep(self, events: Sequence[pb.HealthEvent]) -> None:
        """Writes events to the spool, each a file that is whole or not there."""
        self._spool.mkdir(parents=True, exist_ok=True)
        for position, event in enumerate(events):
            name = f"{int(event.generatedTimestamp.ToMilliseconds()):015d}-{position:04d}-{event.id}"
            unfinished = self._spool / f".{name}"
            unfinished.write_bytes(event.SerializeToString())
            unfinished.rename(self._spool / name)

    def flush(self) -> int:
        """Sends everything in the spool, oldest first, and returns how many events were sent. Raises `Undelivered`.

        An event that is rejected for itself stays, and keeps no other back: the next may be the one that tells of a fault.
        """
        files = sorted(path for path in self._spool.glob("[!.]*") if path.is_file()) if self._spool.is_dir() else []
        refused, sent = list[str](), 0
        for path in files:
            event = self._read(path)
            if event is None:
                continue
            try:
                self._deliver(event, left=len(files) - sent)
            except EventRefused as error:
                refused.append(str(error))
            else:
                path.unlink()
                sent += 1
        if refused:
            raise Undelivered(f"{len(refused)} health events stay in {self._spool}: {refused[0]}")
        return sent

    def _read(self, path: Path) -> pb.HealthEvent | None:
        """The event of a file; none of one that a crash of the node has left empty or garbled."""
        try:
            event = pb.HealthEvent.FromString(path.read_bytes())
        except DecodeError:
            event = pb.HealthEvent()
        if not event.agent:
            self._tell(f"{path} is not a health event and is skipped")
            return None
        return event

    def _deliver(self, event: pb.HealthEvent, left: int) -> None:
        """Sends one event, again and again where that may help. Raises `EventRefused` and `Undelivered`."""
        pause = PAUSE
        for attempt in range(1, TRIES + 1):
            try:
                self._send(event)
            except grpc.RpcError as error:
                code = error.code()
                reason = f"{code.name}: {error.details()}"
                if code not in PASSING:
                    raise EventRefused(reason) from None
                if attempt == TRIES:
                    raise Undelivered(f"{left} health events stay in {self._spool}: {reason}") from None
                self._tell(f"try {attempt} of {TRIES} to send a health event failed: {reason}")
            except OSError as error:
                raise Undelivered(f"{left} health events stay in {self._spool}: the token cannot be read: {error.strerror}") from None
            else:
                return
            self._clock.sleep(pause)
            pause *= GROWTH

    def _send(self, event: pb.HealthEvent) -> None:
        """One call on a connection of its own: a connector that was restarted is found again at once."""
        with grpc.insecure_channel(self._settings.socket) as channel:
            call = channel.unary_unary(METHOD, request_serializer=pb.HealthEvents.SerializeToString, response_deserializer=Empty.FromString)
            call(pb.HealthEvents(version=VERSION, events=[event]), timeout=MAX_CALL, metadata=self._credentials())

    def _credentials(self) -> tuple[tuple[str, str], ...]:
        """The token, read anew each time since it is rotated. Without a token where one is wanted nothing is sent."""
        if not self._settings.token_path:
            return ()
        token = Path(self._settings.token_path).read_text().strip()
        if not token:
            raise OSError(0, "it is empty")
        return (("authorization", f"Bearer {token}"),)
