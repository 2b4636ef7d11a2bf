"""What checks came to: events of their pods, and the design's metrics (ADR-026, Failure Behavior, Metrics)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from applier.ref import Ref
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.check_run import CheckRun
from grove_compiler.preflight_result import check_events
from grove_operator.preflight.metrics import AdmissionMetrics, CheckMetrics
from preflight_images.shared.outcome import FAILED, MISCONFIGURED, PASSED, CheckOutcome
from preflight_images.shared.run import exposition

from ..shipped import program
from .injecting import values_of

DASHBOARD = Path(__file__).parents[2] / "grove_operator" / "install" / "dashboard.json"
PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
POD_REF = Ref("", "Pod", "training", "pod-0")
STARTED = 1767225600.0
"""2026-01-01T00:00:00Z"""


def ended(id: str, code: int, message: str = "") -> Manifest:
    """How the kubelet reports a run of a check that took ninety seconds."""
    times = {"startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:01:30Z"}
    return {"terminated": {"containerID": id, "exitCode": code, "message": message, **times}}


def pod_with(state: Manifest, last: Manifest | None = None, check: str = "a") -> Manifest:
    """A pod whose check is in this state."""
    name = f"preflight-{check}"
    statuses = [{"name": "mine", **ended("other", 1)}, {"name": name, "state": state, "lastState": last or {}}]
    metadata = {"name": "pod-0", "namespace": "training", "uid": "uid-1"}
    spec = {"nodeName": "node-1", "initContainers": [{"name": "mine"}, {"name": name}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"initContainerStatuses": statuses}}


def told(pod: Manifest) -> list[tuple[str, str, str]]:
    return [(one.type, one.reason, one.message) for one in check_events(pod, values_of({}), program())]


SLOW = exposition(
    "a", "node-1", CheckOutcome(FAILED, "5 GB/s, less than 10", error_code="SLOW", measured={"bus_bandwidth_gbps": 5.0}), 12.5
)
UNSET = exposition("a", "node-1", CheckOutcome(MISCONFIGURED, "X is not set", error_code="CONFIG"), 0.0)
WELL = exposition("a", "node-1", CheckOutcome(PASSED, "well", gang_wait=("workloadRef/training/job", 42.0)), 3.0)
EVENTS = {
    "a failure": (ended("1", 1, SLOW), "Warning", "PreflightCheckFailed", "Check a failed on node node-1 (SLOW): 5 GB/s, less than 10"),
    "a setting that is wrong": (
        ended("1", 2, UNSET),
        "Warning",
        "PreflightCheckMisconfigured",
        "Check a is misconfigured (CONFIG): X is not set",
    ),
    "a pass": (ended("1", 0, WELL), "Normal", "PreflightPassed", "All preflight checks have passed on node node-1"),
    "a check that says nothing": (
        ended("1", 137),
        "Warning",
        "PreflightCheckFailed",
        "Check a failed on node node-1 (EXIT_137): it ended with exit code 137",
    ),
    "a check of somebody else's": (
        ended("1", 1, "disk full\nbye"),
        "Warning",
        "PreflightCheckFailed",
        "Check a failed on node node-1 (EXIT_1): disk full",
    ),
}


@pytest.mark.parametrize("what", EVENTS)
def test_people_are_told_how_a_check_ended(what: str) -> None:
    state, *event = EVENTS[what]
    assert told(pod_with(state)) == [tuple(event)]


@pytest.mark.parametrize("state", [{"running": {}}, {"waiting": {"reason": "PodInitializing"}}, {}])
def test_a_check_that_has_not_ended_is_no_news(state: Manifest) -> None:
    assert told(pod_with(state)) == []


def test_a_failure_that_is_tried_again_is_the_same_event() -> None:
    names = {one.name for id in "12" for one in check_events(pod_with({"waiting": {}}, ended(id, 1, SLOW)), values_of({}), program())}
    assert len(names) == 1


def counted(*changes: tuple[Manifest | None, Manifest], since: float = STARTED) -> dict[str, float]:
    """The samples after these changes of the pod; sums and buckets of times are left out."""
    registry = CollectorRegistry()
    metrics = CheckMetrics(registry, lambda: since)
    for old, new in changes:
        metrics(POD_REF, old, new)
    lines = generate_latest(registry).decode().splitlines()
    samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples if not re.search(r"_created|_bucket", name)}


RUNS = pod_with({"running": {}})
# ADR-026, Metrics, Check containers: what is counted of which end
COUNTED: dict[str, tuple[Manifest, dict[str, float]]] = {
    "a failure": (
        ended("1", 1, SLOW),
        {
            'preflight_check_total{check="a",result="failed"}': 1,
            'preflight_check_duration_seconds_count{check="a"}': 1,
            'preflight_check_duration_seconds_sum{check="a"}': 12.5,
            'preflight_check_failures_total{check="a",error_code="SLOW",node="node-1"}': 1,
            'preflight_bus_bandwidth_gbps{check="a",node="node-1"}': 5,
        },
    ),
    "a setting that is wrong": (
        ended("1", 2, UNSET),
        {
            'preflight_check_total{check="a",result="config_error"}': 1,
            'preflight_check_duration_seconds_count{check="a"}': 1,
            'preflight_check_duration_seconds_sum{check="a"}': 0,
            'preflight_config_errors_total{error="CONFIG"}': 1,
        },
    ),
    "a pass after a wait": (
        ended("1", 0, WELL),
        {
            'preflight_check_total{check="a",result="passed"}': 1,
            'preflight_check_duration_seconds_count{check="a"}': 1,
            'preflight_check_duration_seconds_sum{check="a"}': 3,
            'preflight_gang_wait_seconds_count{workload="workloadRef/training/job"}': 1,
            'preflight_gang_wait_seconds_sum{workload="workloadRef/training/job"}': 42,
        },
    ),
    "a check that says nothing": (
        ended("1", 1),
        {
            'preflight_check_total{check="a",result="failed"}': 1,
            'preflight_check_duration_seconds_count{check="a"}': 1,
            'preflight_check_duration_seconds_sum{check="a"}': 90,
            'preflight_check_failures_total{check="a",error_code="EXIT_1",node="node-1"}': 1,
        },
    ),
}


@pytest.mark.parametrize("what", COUNTED)
def test_each_end_is_counted(what: str) -> None:
    state, samples = COUNTED[what]
    assert counted((RUNS, pod_with(state))) == samples


def total(*changes: tuple[Manifest | None, Manifest], since: float = STARTED) -> float:
    samples = counted(*changes, since=since)
    return sum(value for name, value in samples.items() if name.startswith("preflight_check_total"))


FIRST, SECOND = ended("1", 1, SLOW), ended("2", 1, SLOW)
WAITS: Manifest = {"waiting": {"reason": "CrashLoopBackOff"}}
CHANGES: dict[str, tuple[list[tuple[Manifest | None, Manifest]], int]] = {
    "a run is counted once however often its pod changes": ([(RUNS, pod_with(FIRST)), (pod_with(FIRST), pod_with(WAITS, FIRST))], 1),
    "a second run is another": ([(RUNS, pod_with(FIRST)), (pod_with(WAITS, FIRST), pod_with(SECOND, FIRST))], 2),
    "a run whose end was missed is counted with the next": ([(RUNS, pod_with(SECOND, FIRST))], 2),
    "a pod that nobody has seen before": ([(None, pod_with(FIRST))], 1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_every_run_is_counted_once(what: str) -> None:
    changes, number = CHANGES[what]
    assert total(*changes) == number


def test_what_ended_before_the_program_started_was_counted_by_another() -> None:
    assert total((None, pod_with(FIRST)), since=STARTED + 3600) == 0


def test_a_clock_that_the_first_response_sets_right_decides_which_runs_ended_before() -> None:
    """The machine's clock may be an hour ahead, and no response has said so when the program starts."""
    starts, registry = iter([STARTED]), CollectorRegistry()
    CheckMetrics(registry, lambda: next(starts))(POD_REF, None, pod_with(FIRST))
    assert registry.get_sample_value("preflight_check_total", {"check": "a", "result": "failed"}) == 1


@pytest.mark.parametrize("text", ["slow", "A B", "A" * 65, ""])
def test_a_pod_makes_no_series_of_what_it_likes(text: str) -> None:
    line = f'preflight_check_failures_total{{check="a",node="n",error_code="{text}"}} 1'
    assert CheckRun("preflight-a", ended("1", 1, line)["terminated"]).error_code == "EXIT_1"


@pytest.mark.parametrize("message", ["preflight_bus_bandwidth_gbps{} 1.2.3", "{}", "preflight_bus_bandwidth_gbps", "\x00", "a" * 5000])
def test_a_message_that_is_garbled_tells_nothing(message: str) -> None:
    run = CheckRun("preflight-a", ended("1", 1, message)["terminated"])
    assert (run.bandwidth, run.gang_wait, run.seconds, len(run.message) <= 512) == (None, None, 90, True)


def test_only_so_many_gangs_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_operator.preflight.metrics.MAX_WORKLOADS", 2)
    gangs = [exposition("a", "n", CheckOutcome(PASSED, "well", gang_wait=(f"gang-{number}", 1.0)), 1.0) for number in range(4)]
    samples = counted(*((RUNS, pod_with(ended(str(number), 0, text))) for number, text in enumerate(gangs)))
    assert [name for name in samples if "wait_seconds_count" in name] == [
        f'preflight_gang_wait_seconds_count{{workload="gang-{number}"}}' for number in (2, 3)
    ]


def test_the_page_lists_every_metric_with_its_type_and_labels() -> None:
    registry = CollectorRegistry()
    CheckMetrics(registry, lambda: 0.0)
    AdmissionMetrics(registry)
    suffix: dict[str, Any] = {"counter": "_total"}
    made = {f"{one.name}{suffix.get(one.type, '')}": one.type for one in registry.collect() if one.name.startswith("preflight_")}
    rows = re.findall(r"^\| `(preflight_\w+)` \| (\w+) \|", PAGE.read_text(), re.MULTILINE)
    assert dict(rows) == made


def test_every_metric_is_on_the_dashboard_and_no_other() -> None:
    names = set(re.findall(r"\bpreflight_\w+", DASHBOARD.read_text()))
    listed = set(re.findall(r"^\| `(preflight_\w+)` \|", PAGE.read_text(), re.MULTILINE))
    assert {name.removesuffix("_bucket") for name in names} == listed
