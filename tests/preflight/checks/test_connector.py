"""Health events reach a real gRPC server on a Unix socket: it is down, refuses, is restarted; none is lost, none comes twice."""

from __future__ import annotations

import re
from pathlib import Path

import grpc
import pytest

from preflight_images.shared import health_event_pb2 as pb
from preflight_images.shared.connector import TRIES, Connector, Undelivered, message_of
from preflight_images.shared.outcome import HealthReport, RecommendedAction
from preflight_images.shared.settings import CheckSettings

from .connector import PlatformConnector

REPORT = HealthReport(
    "DcgmDiagnosticMemory", "ECC", is_fatal=True, action=RecommendedAction.CONTACT_SUPPORT, error_code="DCGM_FR_4", entities=("GPU-a",)
)


class Clock:
    """Time that passes when somebody waits; `waited` may do something meanwhile."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0
        self.pauses: list[float] = []

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def settings(folder: Path, token: str = "") -> CheckSettings:
    return CheckSettings(
        "node-1", f"unix://{folder / 's'}", "EXECUTE_REMEDIATION", 300, token, str(folder / "spool"), str(folder / "metrics")
    )


def connector(folder: Path, clock: Clock | None = None, token: str = "") -> Connector:
    return Connector(settings(folder, token), lambda _: None, clock or Clock())


def event(folder: Path, message: str = "ECC", at: float = 1_700_000_000.0) -> pb.HealthEvent:
    report = HealthReport(REPORT.check_name, message, REPORT.is_healthy, REPORT.is_fatal, REPORT.action, REPORT.error_code, REPORT.entities)
    return message_of(report, "preflight-dcgm-diag", settings(folder), at)


def test_an_event_arrives_with_all_that_it_says(folder: Path) -> None:
    server = PlatformConnector()
    with server.serving(folder / "s"):
        one = connector(folder)
        one.keep([event(folder)])
        assert one.flush() == 1
    (arrived,) = server.events
    assert (arrived.agent, arrived.checkName, arrived.componentClass, arrived.nodeName) == (
        "preflight-dcgm-diag",
        "DcgmDiagnosticMemory",
        "GPU",
        "node-1",
    )
    assert (arrived.isFatal, arrived.isHealthy, arrived.recommendedAction, list(arrived.errorCode)) == (True, False, 5, ["DCGM_FR_4"])
    assert [(entity.entityType, entity.entityValue) for entity in arrived.entitiesImpacted] == [("GPU_UUID", "GPU-a")]
    assert arrived.generatedTimestamp.seconds == 1_700_000_000


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED])
def test_what_passes_is_tried_again_until_it_has(folder: Path, code: grpc.StatusCode) -> None:
    server, clock = PlatformConnector(), Clock()
    server.refusals = [code, code]
    with server.serving(folder / "s"):
        one = connector(folder, clock)
        one.keep([event(folder)])
        one.flush()
    assert [arrived.id for arrived in server.events] == [event(folder).id]
    assert clock.pauses == [2.0, 3.0]


def test_what_a_server_refuses_is_not_asked_again_at_once(folder: Path) -> None:
    server, clock = PlatformConnector(), Clock()
    server.refusals = [grpc.StatusCode.PERMISSION_DENIED]
    with server.serving(folder / "s"):
        one = connector(folder, clock)
        one.keep([event(folder)])
        with pytest.raises(Undelivered, match="PERMISSION_DENIED"):
            one.flush()
    assert clock.pauses == []


def test_an_event_that_is_refused_keeps_no_other_back(folder: Path) -> None:
    server = PlatformConnector()
    server.refusals = [grpc.StatusCode.INVALID_ARGUMENT]
    with server.serving(folder / "s"):
        one = connector(folder)
        one.keep([event(folder, "first"), event(folder, "second")])
        with pytest.raises(Undelivered, match="1 health events stay"):
            one.flush()
        assert [arrived.message for arrived in server.events] == ["second"]
        one.flush()
    assert [arrived.message for arrived in server.events] == ["second", "first"]


@pytest.mark.parametrize("garbage", [b"", b"\xff\xff\xff"])
def test_a_garbled_file_of_the_spool_is_told_and_keeps_no_event_back(garbage: bytes, folder: Path) -> None:
    server, told = PlatformConnector(), list[str]()
    with server.serving(folder / "s"):
        one = Connector(settings(folder), told.append, Clock())
        one.keep([event(folder)])
        (folder / "spool" / "000000000000001-0000-garbled").write_bytes(garbage)
        assert one.flush() == 1
    assert len(server.events) == 1
    assert ["is not a health event" in line for line in told] == [True]


def test_a_server_that_is_down_loses_nothing_and_gets_nothing_twice(folder: Path) -> None:
    clock = Clock()
    one = connector(folder, clock)
    one.keep([event(folder, "first"), event(folder, "second")])
    with pytest.raises(Undelivered, match="2 health events stay"):
        one.flush()
    assert len(clock.pauses) == TRIES - 1
    server = PlatformConnector()
    with server.serving(folder / "s"):
        again = connector(folder)  # the container was restarted: what it knows is in the spool
        again.keep([event(folder, "third", at=clock.now)])
        again.flush()
        again.flush()
    assert [arrived.message for arrived in server.events] == ["first", "second", "third"]


def test_a_server_that_was_restarted_is_found_again(folder: Path) -> None:
    server, one = PlatformConnector(), connector(folder)
    for message in ("before", "after"):
        with server.serving(folder / "s"):
            one.keep([event(folder, message)])
            one.flush()
    assert [arrived.message for arrived in server.events] == ["before", "after"]


def test_the_token_is_read_anew_for_each_call(folder: Path) -> None:
    server, token = PlatformConnector(), folder / "token"
    with server.serving(folder / "s"):
        one = connector(folder, token=str(token))
        for text in ("one\n", "two\n"):
            token.write_text(text)
            one.keep([event(folder)])
            one.flush()
    assert server.credentials == ["Bearer one", "Bearer two"]


@pytest.mark.parametrize("text", [None, ""])
def test_without_the_token_that_is_wanted_nothing_is_sent(folder: Path, text: str | None) -> None:
    server, token = PlatformConnector(), folder / "token"
    if text is not None:
        token.write_text(text)
    with server.serving(folder / "s"):
        one = connector(folder, token=str(token))
        one.keep([event(folder)])
        with pytest.raises(Undelivered, match="the token cannot be read"):
            one.flush()
    assert server.events == []


FIELDS = {
    "HealthEvents": {"version": 1, "events": 2},
    "Entity": {"entityType": 1, "entityValue": 2},
    "HealthEvent": {
        "version": 1, "agent": 2, "componentClass": 3, "checkName": 4, "isFatal": 5, "isHealthy": 6, "message": 7,
        "recommendedAction": 8, "errorCode": 9, "entitiesImpacted": 10, "metadata": 11, "generatedTimestamp": 12, "nodeName": 13,
        "processingStrategy": 16, "id": 17, "customRecommendedAction": 18,
    },
}  # fmt: skip


@pytest.mark.parametrize("message", FIELDS)
def test_fields_have_the_numbers_of_nvsentinel_s(message: str) -> None:
    assert {field.name: field.number for field in pb.DESCRIPTOR.message_types_by_name[message].fields} == FIELDS[message]


def test_the_code_is_what_the_description_says() -> None:
    text = (Path(pb.__file__).parent / "health_event.proto").read_text()
    written = {name: int(number) for name, number in re.findall(r"(\w+) = (\d+);", text.partition("message HealthEvent {")[2])}
    assert written == FIELDS["HealthEvent"]


def test_actions_have_the_numbers_of_the_description() -> None:
    assert {action.name: int(action) for action in RecommendedAction} == dict(pb.RecommendedAction.items())
