"""The metrics of admission of pods for Prometheus, under the design's names (ADR-026, Metrics). docs/metrics.md has them all."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class AdmissionMetrics:
    """Counts reviews of pods: `answered` takes what became of one, and how long it took."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._injections = Counter("preflight_injection", "Pods by what admission made of them", ["result"], registry=registry)
        self._latency = Histogram(
            "preflight_webhook_latency_seconds", "How long it took to answer about a pod", buckets=SHORT, registry=registry
        )
        ProcessCollector(registry=registry)

    def answered(self, result: str, seconds: float) -> None:
        """Takes a review: `injected`, `skipped` for a pod that gets no checks, `refused`, or `error`."""
        self._injections.labels(result).inc()
        self._latency.observe(seconds)
