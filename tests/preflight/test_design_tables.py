"""Every table of ADR-026, row by row, as it is printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from grove_compiler.graph.node import Manifest
from grove_operator.preflight.metrics import AdmissionMetrics, CheckMetrics
from preflight_images.dcgm_diag.diag_json import DiagResult, normal_name
from preflight_images.dcgm_diag.verdict import judge
from preflight_images.nccl_allreduce.benchmark import bus_bandwidth
from preflight_images.nccl_allreduce.check import torchrun
from preflight_images.nccl_allreduce.gang import RankedGang
from preflight_images.shared.nccl import failure
from preflight_images.shared.outcome import FAILED, MISCONFIGURED, PASSED
from tests.suite.rows import rows

from .injecting import inject_pod, pod_of
from .test_results import POD_REF, ended, pod_with

DEVICES = {"limits": {"nvidia.com/gpu": 8, "nvidia.com/mlnxnics": 4}}


def injected(check: str, **more: Any) -> Manifest:
    """The pod of a gang with one check."""
    spec = {"containers": [{"name": "main", "resources": DEVICES}], **more.pop("spec", {"workloadRef": {"name": "job"}})}
    return inject_pod(pod_of(spec, **more), {"checks": [{"name": check, "image": "i"}]}).injected


# | Check | Scope | Coordination |
CHECK_TYPES = [("dcgm-diag", "Single node", "None"), ("nccl-loopback", "Single node", "None"), ("nccl-allreduce", "Gang-wide", "ConfigMap")]


@pytest.mark.parametrize(("check", "scope", "coordination"), CHECK_TYPES)
def test_check_types(check: str, scope: str, coordination: str) -> None:
    spec = injected(check)["spec"]
    has_config_map = any("configMap" in volume for volume in spec["volumes"])
    assert has_config_map is (coordination == "ConfigMap")
    alone = injected(check, spec={})["spec"].get("initContainers", [])
    assert (alone == []) is (scope == "Gang-wide"), "without a gang only its own checks are left out"


# | Scheduler | Discovery chain |
DISCOVERY = [
    ("K8s 1.35 native", "workloadRef", {"spec": {"workloadRef": {"name": "g"}}}),
    ("Volcano", "volcano", {"annotations": {"volcano.sh/pod-group": "g"}}),
    ("Kueue", "kueue", {"labels": {"kueue.x-k8s.io/workload-name": "g"}}),
    ("Label-based", "labels", {"labels": {"team/gang": "g"}}),
]


@pytest.mark.parametrize(("scheduler", "method", "names"), DISCOVERY)
def test_gang_discovery(scheduler: str, method: str, names: dict[str, Any]) -> None:
    spec = {"containers": [{"name": "main", "resources": DEVICES}], **names.get("spec", {})}
    values = {
        "checks": [{"name": "nccl-allreduce", "image": "i"}],
        "gangDiscovery": {"method": method, "labels": {"gangIdLabel": "team/gang"}},
    }
    gang = inject_pod(pod_of(spec, labels=names.get("labels"), annotations=names.get("annotations")), values).gang
    assert gang is not None, scheduler
    assert gang.config_map == "preflight-g"


# | Test | Result | Recommended Action |, and isFatal determination
DCGM = [
    ("Memory", "FAIL", "CONTACT_SUPPORT", True),
    ("PCIe", "FAIL", "CONTACT_SUPPORT", True),
    ("NVLink", "FAIL", "CONTACT_SUPPORT", True),
    ("Targeted Stress", "FAIL", "RUN_DCGMEUD", True),
    ("Memory", "WARN", "NONE", False),
    ("PCIe", "WARN", "NONE", False),
    ("NVLink", "WARN", "NONE", False),
    ("Targeted Stress", "WARN", "NONE", False),
]


@rows(("test", "result", "action", "is_fatal"), DCGM)
def test_dcgm_diag(test: str, result: str, action: str, is_fatal: bool) -> None:
    (report,) = judge([DiagResult(normal_name(test), result, 0, "text")], {0: "GPU-a"}).reports
    assert (report.action.name, report.is_fatal) == (action, is_fatal)


# | Error | Recommended Action |, and isFatal determination
NCCL = [
    ("NCCL_SYSTEM_ERROR", "CONTACT_SUPPORT", True),
    ("NCCL_INTERNAL_ERROR", "RUN_DCGMEUD", True),
    ("NCCL_INVALID_USAGE", "NONE", False),
    ("NCCL_TIMEOUT", "NONE", False),
    ("NCCL_REMOTE_ERROR", "CONTACT_SUPPORT", True),
]


@pytest.mark.parametrize(("error", "action", "is_fatal"), NCCL)
def test_nccl_checks(error: str, action: str, is_fatal: bool) -> None:
    (report,) = failure("Test", error, "text").reports
    assert (report.action.name, report.is_fatal, report.error_code) == (action, is_fatal, error)


# Init container exit codes, and what becomes of them in metrics
EXIT_CODES = [(0, PASSED, "passed"), (1, FAILED, "failed"), (2, MISCONFIGURED, "config_error")]


@pytest.mark.parametrize(("code", "outcome", "result"), EXIT_CODES)
def test_exit_codes(code: int, outcome: int, result: str) -> None:
    registry = CollectorRegistry()
    CheckMetrics(registry, lambda: 0.0)(POD_REF, None, pod_with(ended("c", code)))
    assert outcome == code
    assert registry.get_sample_value("preflight_check_total", {"check": "a", "result": result}) == 1


# | Metric | Type | Labels | of check containers and of the injector
METRICS: list[tuple[str, str, set[str]]] = [
    ("preflight_check_total", "counter", {"check", "result"}),
    ("preflight_check_duration_seconds", "histogram", {"check"}),
    ("preflight_check_failures_total", "counter", {"check", "node", "error_code"}),
    ("preflight_gang_wait_seconds", "histogram", {"workload"}),
    ("preflight_config_errors_total", "counter", {"error"}),
    ("preflight_injection_total", "counter", {"result"}),
    ("preflight_webhook_latency_seconds", "histogram", set()),
]
SEEN = [
    pod_with(ended("1", 1, 'preflight_gang_wait_seconds{workload="w"} 3')),
    pod_with(ended("2", 2)),
]


@rows(("name", "kind", "labels"), METRICS)
def test_metrics(name: str, kind: str, labels: set[str]) -> None:
    registry = CollectorRegistry()
    checks, admission = CheckMetrics(registry, lambda: 0.0), AdmissionMetrics(registry)
    for pod in SEEN:
        checks(POD_REF, None, pod)
    admission.answered("injected", 0.001)
    (found,) = (one for one in registry.collect() if one.name == name.removesuffix("_total"))
    assert found.type == kind
    assert found.samples
    assert {label for sample in found.samples for label in sample.labels} - {"le"} == labels


# What the test script computes, and how each pod starts it
COMPUTED: list[tuple[str, Callable[[], object], object]] = [
    ("bus_bw = algo_bw * (2 * (world_size - 1) / world_size)", lambda: bus_bandwidth(4 * 10**9, 20, 1.0, 16), 80 * 2 * 15 / 16),
    (
        "torchrun --nnodes --nproc_per_node --node_rank --master_addr --master_port",
        lambda: torchrun(RankedGang(("pod-0", "pod-1"), 1, "10.0.1.5", 0.0), 8, 29500)[3:8],
        ["--nnodes=2", "--nproc_per_node=8", "--node_rank=1", "--master_addr=10.0.1.5", "--master_port=29500"],
    ),
]


@pytest.mark.parametrize(("printed", "compute", "expected"), COMPUTED)
def test_all_reduce(printed: str, compute: Callable[[], object], expected: object) -> None:
    assert compute() == expected, printed
