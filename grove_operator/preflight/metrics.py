"""Exports metrics of preflight checks to Prometheus, by the names of ADR-026. A test compares them with docs/metrics.md."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from applier.ref import Manifest, Ref
from grove_compiler.model.inputs.check_run import CONFIG_ERROR, FAILED, CheckRun, TestedPod
from grove_operator.preflight.gangs import ended_runs

SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class AdmissionMetrics:
    """Counts and times reviews of pods."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._injections = Counter("preflight_injection", "Reviewed pods by result", ["result"], registry=registry)
        self._latency = Histogram("preflight_webhook_latency_seconds", "Duration of the review of a pod", buckets=SHORT, registry=registry)
        ProcessCollector(registry=registry)

    def answered(self, result: str, seconds: float) -> None:
        """Counts a review by its result: `injected`, `skipped` for a pod without checks, `refused`, or `error`."""
        self._injections.labels(result).inc()
        self._latency.observe(seconds)


LONG = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0)
MAX_WORKLOADS = 1000
"""Gangs with metrics of their wait. Each has about fifteen series, and new gangs appear for as long as the cluster runs."""


class CheckMetrics:
    """Counts the runs of checks that end while this program runs: subscribes to a cache of pods.

    A check runs for seconds, too short to be scraped, so its results are in its termination message. `since` returns the start of the
    program in seconds since the epoch, which the cluster's clock tells better once it has answered; runs that ended earlier were counted
    by another process.
    """

    def __init__(self, registry: CollectorRegistry, since: Callable[[], float]) -> None:
        self._since = since
        self._runs = Counter("preflight_check", "Runs of checks by result", ["check", "result"], registry=registry)
        self._seconds = Histogram("preflight_check_duration_seconds", "Duration of checks", ["check"], buckets=LONG, registry=registry)
        self._failures = Counter(
            "preflight_check_failures", "Failed checks by node and error", ["check", "node", "error_code"], registry=registry
        )
        self._waits = Histogram(
            "preflight_gang_wait_seconds",
            "Time that the pods of a gang waited for each other",
            ["workload"],
            buckets=LONG,
            registry=registry,
        )
        self._config_errors = Counter("preflight_config_errors", "Misconfigured checks by error", ["error"], registry=registry)
        self._bandwidth = Gauge("preflight_bus_bandwidth_gbps", "Last measured bus bandwidth in GB/s", ["check", "node"], registry=registry)
        self._workloads: OrderedDict[str, None] = OrderedDict()

    def __call__(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        """Takes a watch event of any kind."""
        if ref[:2] != ("", "Pod") or new is None:
            return
        node = TestedPod(new).node_name
        for run in ended_runs(old, new):
            if old is not None or run.ended >= self._since():
                self._ended(run, node)

    def _ended(self, run: CheckRun, node: str) -> None:
        self._runs.labels(run.check, run.result).inc()
        self._seconds.labels(run.check).observe(run.seconds)
        if run.result == FAILED:
            self._failures.labels(run.check, node, run.error_code).inc()
        if run.result == CONFIG_ERROR:
            self._config_errors.labels(run.error_code).inc()
        if run.gang_wait is not None:
            self._waited(run.workload, run.gang_wait)
        if run.bandwidth is not None:
            self._bandwidth.labels(run.check, node).set(run.bandwidth)

    def _waited(self, workload: str, seconds: float) -> None:
        self._waits.labels(workload).observe(seconds)
        self._workloads[workload] = None
        self._workloads.move_to_end(workload)
        if len(self._workloads) > MAX_WORKLOADS:
            self._waits.remove(self._workloads.popitem(last=False)[0])
