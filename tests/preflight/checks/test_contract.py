"""The contract of checks: exit codes, one line of JSON, events, metrics (ADR-026, Check contract, Failure Behavior, Metrics)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from preflight_images.shared.outcome import FAILED, PASSED, CheckOutcome, HealthReport, Misconfigured
from preflight_images.shared.run import run
from preflight_images.shared.settings import CheckSettings

from .connector import PlatformConnector
from .test_connector import Clock

WELL = CheckOutcome(PASSED, "well", (HealthReport("Test", "well", is_healthy=True),))
FAULT = CheckOutcome(
    FAILED,
    "slow",
    (HealthReport("Test", "slow", is_fatal=True, error_code="SLOW"),),
    error_code="SLOW",
    measured={"bus_bandwidth_gbps": 1.5},
)


def environment(folder: Path, **more: str) -> dict[str, str]:
    places = {"HEALTH_EVENT_SPOOL": str(folder / "spool"), "METRICS_FILE": str(folder / "metrics")}
    return {"NODE_NAME": "node-1", "PLATFORM_CONNECTOR_SOCKET": f"unix://{folder / 's'}", **places, **more}


def ending(result: CheckOutcome | Exception) -> Any:
    def check(_: Mapping[str, str], __: CheckSettings) -> CheckOutcome:
        if isinstance(result, Exception):
            raise result
        return result

    return check


ENDS: dict[str, tuple[CheckOutcome | Exception, int, str]] = {
    "a pass": (WELL, 0, "passed"),
    "a fault": (FAULT, 1, "failed"),
    "a setting that is wrong": (Misconfigured("X is not set"), 2, "config_error"),
    "a fault of ours": (ZeroDivisionError("division by zero"), 1, "failed"),
}


@pytest.mark.parametrize("how", ENDS)
def test_each_end_has_its_exit_code_and_its_line(how: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result, code, word = ENDS[how]
    with PlatformConnector().serving(folder / "s"):
        assert run("test", ending(result), environment(folder), Clock()) == code
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["result"] == word


def test_every_end_is_reported(folder: Path) -> None:
    server = PlatformConnector()
    with server.serving(folder / "s"):
        for result, _, _ in ENDS.values():
            run("test", ending(result), environment(folder), Clock())
    told = [(event.isHealthy, event.isFatal, list(event.errorCode)) for event in server.events]
    assert told == [(True, False, []), (False, True, ["SLOW"]), (False, False, ["CONFIG"]), (False, False, ["CHECK_ERROR"])]


@pytest.mark.parametrize("result", [FAULT, WELL])
def test_a_connector_that_is_away_changes_no_verdict(result: CheckOutcome, folder: Path) -> None:
    assert run("test", ending(result), environment(folder), Clock()) == result.exit_code
    assert len(list((folder / "spool").iterdir())) == 1


def test_where_faults_are_only_stored_they_stop_no_pod(folder: Path) -> None:
    server = PlatformConnector()
    with server.serving(folder / "s"):
        assert run("test", ending(FAULT), environment(folder, PROCESSING_STRATEGY="STORE_ONLY"), Clock()) == 0
    (event,) = server.events
    assert (event.isFatal, event.processingStrategy) == (True, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NODE_NAME", ""),
        *(("CHECK_TIMEOUT", text) for text in ("soon", "0s", "0", "0h0m", "-5s", "s", "1h-5s", "5s!")),
        ("PLATFORM_CONNECTOR_SOCKET", "localhost:1"),
        ("PROCESSING_STRATEGY", "EXECUTE"),
    ],
)
def test_a_wrong_setting_is_told_by_its_name(name: str, value: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("test", ending(FAULT), environment(folder, **{name: value}), Clock()) == 2
    assert name in json.loads(capsys.readouterr().out)["message"]


# ADR-026, Metrics, Check containers: what is counted for which end
METRICS = {
    "a pass": ["# well", 'preflight_check_total{check="test",result="passed"} 1', 'preflight_check_duration_seconds{check="test"} 0.0'],
    "a fault": [
        "# slow",
        'preflight_check_total{check="test",result="failed"} 1',
        'preflight_check_duration_seconds{check="test"} 0.0',
        'preflight_check_failures_total{check="test",node="node-1",error_code="SLOW"} 1',
        'preflight_bus_bandwidth_gbps{check="test",node="node-1"} 1.5',
    ],
    "a setting that is wrong": [
        "# X is not set",
        'preflight_check_total{check="test",result="config_error"} 1',
        'preflight_check_duration_seconds{check="test"} 0.0',
        'preflight_config_errors_total{error="CONFIG"} 1',
    ],
}


@pytest.mark.parametrize("how", METRICS)
def test_each_end_is_counted(how: str, folder: Path) -> None:
    run("test", ending(ENDS[how][0]), environment(folder), Clock())
    assert (folder / "metrics").read_text().splitlines() == METRICS[how]
