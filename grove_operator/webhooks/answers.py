"""Answers what comes to each path of the webhooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grove_compiler.decoder import SET_KIND
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Objects
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
from grove_operator.webhooks.review import Judge, answer, read_request
from grove_operator.webhooks.server import Answer
from grove_operator.webhooks.share import Traffic


class Answers:
    """`judge` gives the one to ask at this moment; with a `trial` the pods of sets are tried as well. `traffic` learns what is asked."""

    def __init__(self, judge: Callable[[], Judge], trial: PodTrial | None = None, traffic: Traffic | None = None) -> None:
        self._judge, self._trial, self._traffic = judge, trial, traffic or Traffic()
        self._of_domains: dict[str, Answer] = {}

    def serve_domains(self, domains: DomainWebhooks, made: Callable[[], Objects]) -> None:
        """Answers about PodCliques and PodGangs of other controllers, too; `made` shows which domains there are."""

        async def podclique(review: Any) -> Manifest:
            judge, request = self._judge(), read_request(review)
            return await domains.podclique(request, judge.context, judge.settings(request))

        async def validate(review: Any) -> Manifest:
            judge, request = self._judge(), read_request(review)
            return domains.validate(request, judge.context, judge.settings(request))

        async def podgang(review: Any) -> Manifest:
            judge, request = self._judge(), read_request(review)
            return domains.podgang(request, judge.context, judge.settings(request), made())

        self._of_domains = {MNNVL_POD_CLIQUES.path: podclique, VALIDATE_MNNVL_POD_CLIQUES.path: validate, MNNVL_POD_GANGS.path: podgang}

    def by_path(self) -> Mapping[str, Answer]:
        """Returns who answers on which path."""
        return {
            DEFAULT_SETS.path: self.default,
            VALIDATE_SETS.path: self.validate,
            VALIDATE_TOPOLOGIES.path: self.validate,
            VALIDATE_SCALES.path: self.scale,
            AUTHORIZE.path: self.authorize,
            **self._of_domains,
        }

    async def default(self, review: Any) -> Manifest:
        """Returns a set's defaults as a patch."""
        self._traffic.note()
        return self._judge().default(review)

    async def validate(self, review: Any) -> Manifest:
        """Returns whether a set or a topology may be what it is to be."""
        self._traffic.note()
        judge, request = self._judge(), read_request(review)
        findings = judge.findings(request) if request.is_judged else []
        if self._trial and request.is_judged and request.object["kind"] == SET_KIND and not has_errors(findings):
            context, settings = judge.context, judge.settings(request)
            findings += await self._trial.findings(request.old, request.object, context, settings, judge.config, judge.view)
        return judge.conclude(request, findings)

    async def scale(self, review: Any) -> Manifest:
        """Returns whether a set, a scaling group or a clique may have another number of replicas."""
        self._traffic.note()
        judge, request = self._judge(), read_request(review)
        if request.operation != "UPDATE" or judge.view is None:
            return answer(request, [])
        return answer(request, scaling_findings(request, judge.context, judge.view))

    async def authorize(self, review: Any) -> Manifest:
        """Returns whether somebody may change or delete an object that the operator keeps."""
        self._traffic.note()
        judge, request = self._judge(), read_request(review)
        findings = protection_findings(request, judge.context, judge.view, judge.operator) if judge.view is not None else []
        return answer(request, findings, refusal=(403, "Forbidden"))
