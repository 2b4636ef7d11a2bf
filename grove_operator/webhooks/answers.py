"""Handles the requests of each path of the webhooks: large objects in a thread, so that all else goes on beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_operator.install.webhook_configurations import (
    AUTHORIZE,
    DEFAULT_SETS,
    MNNVL_POD_CLIQUES,
    MNNVL_POD_GANGS,
    VALIDATE_MNNVL_POD_CLIQUES,
    VALIDATE_SCALES,
    VALIDATE_SETS,
    VALIDATE_TOPOLOGIES,
)
from grove_operator.webhooks.domains import DomainWebhooks
from grove_operator.webhooks.pod_trial import PodTrial
from grove_operator.webhooks.requests import protection_findings, scaling_findings
from grove_operator.webhooks.review import AdmissionRequest, Reviewer, answer, read_request
from grove_operator.webhooks.server import Answer
from grove_operator.webhooks.share import Traffic
from grove_operator.worker_thread import WorkerThread

T = TypeVar("T")

LARGE = 128 << 10
"""Bytes of a request from which on it is reviewed aside. Smaller ones take some milliseconds, and a thread would gain nothing."""
MAX_SECONDS = 8.0
"""Seconds for a review, with its wait for those before it. An API server waits for ten, and its user never learns what took so long."""


class Overdue(Exception):
    """Reports that a review took too long."""


class Aside:
    """Runs the work of large reviews one after the other. Above `longest` seconds a review is given up before its next rule."""

    def __init__(self, longest: float = MAX_SECONDS) -> None:
        self._longest = longest
        self._budget = _Deadline()
        self._thread = WorkerThread("large reviews", self._budget)

    async def run(self, reviewer: Reviewer, work: Callable[[Reviewer], T]) -> T:
        """Returns the result of `work`, which gets the reviewer without the preview of effects. Raises `Overdue`, and what it raises."""
        until = time.monotonic() + self._longest
        beside = replace(reviewer, context=self._thread.context_of(reviewer.context), preview=None)
        try:
            with reviewer.frozen():
                async with asyncio.timeout(self._longest):
                    return await self._thread.run(partial(self._until, until, partial(work, beside)))
        except TimeoutError:
            raise Overdue from None

    def _until(self, until: float, work: Callable[[], T]) -> T:
        self._budget.until = until
        return work()


class _Deadline(CostBudget):
    """Ends a run before its next rule once its time is over."""

    __slots__ = ("until",)

    def __init__(self) -> None:
        self.until = float("inf")
        super().__init__()

    def start(self, results: Any = ()) -> None:
        if time.monotonic() > self.until:
            raise Overdue
        super().start(results)


OVERDUE = Diagnostic(
    "admission/overdue", "error", f"the review of this object, and of large ones before it, takes more than {MAX_SECONDS:.0f} s; try again"
)


class Answers:
    """Handles requests by the current reviewer. With a `trial` the pods of sets are tried as well; `traffic` counts requests."""

    def __init__(self, reviewer: Callable[[], Reviewer], trial: PodTrial | None = None, traffic: Traffic | None = None) -> None:
        self._reviewer, self._trial, self._traffic = reviewer, trial, traffic or Traffic()
        self._aside = Aside()
        self._domain_handlers: dict[str, Answer] = {}

    def serve_domains(self, domains: DomainWebhooks) -> None:
        """Adds the webhooks for PodCliques and PodGangs of other controllers."""

        def handler(admit: Callable[[AdmissionRequest, Reviewer], Awaitable[Manifest]]) -> Answer:
            return lambda review, _: admit(read_request(review), self._reviewer())

        self._domain_handlers = {
            MNNVL_POD_CLIQUES.path: handler(domains.podclique),
            VALIDATE_MNNVL_POD_CLIQUES.path: handler(domains.validate),
            MNNVL_POD_GANGS.path: handler(domains.podgang),
        }

    def by_path(self) -> Mapping[str, Answer]:
        """Returns the handlers by path."""
        return {
            DEFAULT_SETS.path: self.default,
            VALIDATE_SETS.path: self.validate,
            VALIDATE_TOPOLOGIES.path: self.validate,
            VALIDATE_SCALES.path: self.scale,
            AUTHORIZE.path: self.authorize,
            **self._domain_handlers,
        }

    async def default(self, review: Any, size: int = 0) -> Manifest:
        """Returns the defaults of a set as a patch."""
        self._traffic.note()
        if size < LARGE:
            return self._reviewer().default(review)
        return await self._beside(read_request(review), lambda reviewer: reviewer.default(review))

    async def validate(self, review: Any, size: int = 0) -> Manifest:
        """Validates a set or a topology. The pods of a large one are not tried, and its effects not previewed."""
        self._traffic.note()
        if size >= LARGE:
            return await self._beside(read_request(review), lambda reviewer: reviewer.validate(review))
        reviewer, request = self._reviewer(), read_request(review)
        findings = reviewer.findings(request) if request.is_validated else []
        if self._trial and request.is_validated and request.object["kind"] == SET_KIND and not has_errors(findings):
            settings = reviewer.settings(request)
            findings += await self._trial.findings(request.old, request.object, reviewer.context, settings, reviewer.view)
        return reviewer.conclude(request, findings)

    async def scale(self, review: Any, _: int = 0) -> Manifest:
        """Validates a change of the replicas of a set, scaling group or clique, by its scale subresource or of the object itself."""
        self._traffic.note()
        reviewer, request = self._reviewer(), read_request(review)
        if request.operation != "UPDATE" or reviewer.view is None:
            return answer(request, [])
        return answer(request, scaling_findings(request, reviewer.context, reviewer.view))

    async def authorize(self, review: Any, _: int = 0) -> Manifest:
        """Authorizes a change or deletion of an object that the operator manages."""
        self._traffic.note()
        reviewer, request = self._reviewer(), read_request(review)
        findings = protection_findings(request, reviewer.context, reviewer.view, reviewer.operator) if reviewer.view is not None else []
        return answer(request, findings, refusal=(403, "Forbidden"))

    async def _beside(self, request: AdmissionRequest, work: Callable[[Reviewer], Manifest]) -> Manifest:
        try:
            return await self._aside.run(self._reviewer(), work)
        except Overdue:
            return answer(request, [OVERDUE], refusal=(504, "Timeout"))
