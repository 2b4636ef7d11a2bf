"""Runs the gang controller and the webhook, which answers with what `grove preflight inject` prints, on a shared cache."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol

from applier.cache import WatchCache
from applier.cluster import Cluster
from applier.loop import View
from applier.ref import Ref
from applier.stop import Stop
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight import inject
from grove_compiler.record import record
from grove_compiler.unknown import Unknown
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.preflight.gangs import GangController
from grove_operator.webhooks.certificate import NoCertificate
from grove_operator.webhooks.review import answer, read_request
from grove_operator.webhooks.service import RunningWebhooks, Serving

MUTATE_PODS = "/mutate-pod"
"""The path of the design's webhook configuration."""
NVSENTINEL_PATH = "/mutate"
"""The path of NVSentinel's webhook: an existing configuration for it only needs another Service."""
Log = Callable[[str], None]
Answered = Callable[[str, float], None]
OnChange = Callable[[Ref, Manifest | None, Manifest | None], None]


@record
class Injector:
    """Reviews pods by the existing objects of `view`. It neither reads from a cluster nor writes to it."""

    preflight: Preflight
    program: Program
    view: ObjectReader

    def review(self, review: Any) -> Manifest:
        """Returns the response to an AdmissionReview: a patch, a denial with all reasons, or neither. Raises `NoReview`."""
        request = read_request(review)
        if request.operation != "CREATE" or request.object.get("kind") != "Pod":
            return answer(request, [])
        result = inject(request.object, self.view, self.preflight, self.program, request.namespace)
        return answer(request, result.findings, result.patch)


def result_of(answer: Manifest) -> str:
    """Returns the value of the metrics' label `result` for a response."""
    response = answer["response"]
    if not response["allowed"]:
        return "refused"
    return "injected" if "patch" in response else "skipped"


class MetricsListener(Protocol):
    """A server of metrics."""

    async def start(self, host: str, port: int) -> int:
        """Begins to listen and returns the port. Raises `OSError`."""

    async def stop(self) -> None:
        """Stops listening."""


@record
class Served:
    """What the process serves: admission if there is a `webhook`, and metrics if there is a listener for them.

    `answered` takes the result of each review and its duration in seconds, `on_change` each watch event.
    """

    webhook: Serving | None = None
    metrics: MetricsListener | None = None
    metrics_port: int = 0
    answered: Answered = lambda *_: None
    on_change: OnChange = lambda *_: None


async def serve(
    cluster: Cluster, controller: GangController, preflight: Preflight, program: Program, served: Served, stop: Stop, log: Log
) -> None:
    """Runs until `stop`. Reviews are answered once the cache is synced. Raises `OSError` when it cannot listen."""
    controller.cache.subscribe(served.on_change)
    running = asyncio.create_task(controller.run(), name="gangs")
    async with AsyncExitStack() as stack:
        synced = asyncio.create_task(controller.cache.synced(), name="initial lists")
        stopped = asyncio.create_task(stop.wait(), name="stop")
        stack.callback(synced.cancel)
        stack.callback(stopped.cancel)
        if served.metrics is not None:
            stack.push_async_callback(served.metrics.stop)
            log(f"metrics on port {await served.metrics.start('', served.metrics_port)}")
        admission, webhooks = None, None
        if served.webhook is not None:
            admission = AdmissionServer(controller.cache, preflight, program, served.answered)
            webhooks = await _listen(stack, admission, cluster, served.webhook, controller.clock, log)
        await asyncio.wait({running, synced, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if _has_succeeded(synced) and webhooks is not None and admission is not None:
            admission.is_ready = True
            webhooks.ready()
            log("ready")
        await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
        controller.stop()
        await running


def _has_succeeded(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


class AdmissionServer:
    """Reviews pods by the objects of the cache, and counts the results."""

    def __init__(self, cache: WatchCache, preflight: Preflight, program: Program, answered: Answered) -> None:
        self._cache, self._preflight, self._program, self._answered = cache, preflight, program, answered
        self.is_ready = False

    def review(self, body: Any) -> Manifest:
        """Returns the response to a review, and counts it. Raises `NoReview`, and `Unknown` until the cache is synced."""
        if not self.is_ready:
            raise Unknown("the cluster is still being read")  # a claim that is not in the cache yet must not admit a pod without checks
        began, result = time.perf_counter(), "error"
        try:
            answer = Injector(self._preflight, self._program, LiveObjects(View(self._cache))).review(body)
            result = result_of(answer)
        finally:
            self._answered(result, time.perf_counter() - began)
        return answer


async def _listen(
    stack: AsyncExitStack, admission: AdmissionServer, cluster: Cluster, webhook: Serving, clock: Callable[[], float], log: Log
) -> RunningWebhooks:
    answers = {path: lambda review, _: admission.review(review) for path in (MUTATE_PODS, NVSENTINEL_PATH)}
    webhooks = RunningWebhooks(cluster, answers, webhook, clock, log, log)
    stack.push_async_callback(webhooks.stop)
    try:
        log(f"listening on port {await webhooks.start()}")
    except NoCertificate as error:
        raise OSError(str(error)) from None
    return webhooks
