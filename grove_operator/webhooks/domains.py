"""Admits PodCliques of other controllers: creates the ComputeDomains that their pods join, and adds claims to the pods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from applier.cluster import Cluster, find
from applier.errors import AlreadyExists, ApplierError, UnknownKind
from applier.ref import Kind
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest
from grove_compiler.mnnvl_admission import CliqueAdmission, admit_podclique, admit_podgang
from grove_compiler.model.admitted.place import place_of
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList, ObjectReader
from grove_compiler.step import StepContext
from grove_operator import field_managers
from grove_operator.webhooks.review import AdmissionRequest, Reviewer, answer
from kube_objects.manifest import is_terminating

SET = Kind("grove.io", "v1alpha1", "PodCliqueSet")
TIMEOUT = 8.0
"""Seconds for all requests of one review; an API server waits ten for the response."""
CODE = "admission/domain-not-made"


class DomainWebhooks:
    """Creates the objects that pods refer to during admission, unless the request is a dry run. `view` returns the existing domains."""

    def __init__(self, cluster: Cluster, view: Callable[[], ObjectReader]) -> None:
        self._cluster, self._view = cluster, view

    async def podclique(self, request: AdmissionRequest, reviewer: Reviewer) -> Manifest:
        """Reviews a PodClique. Returns a patch that adds its claim, or a denial with all reasons."""
        if request.operation not in ("CREATE", "UPDATE") or is_terminating(request.object):
            return answer(request, [])
        try:
            async with asyncio.timeout(TIMEOUT):
                admission = await self._admitted(request, reviewer.context, reviewer.settings(request))
        except TimeoutError:
            return answer(request, [_failure(f"the API server did not answer within {TIMEOUT:g} s")])
        except ApplierError as error:
            return answer(request, [_failure(str(error))])
        return answer(request, admission.findings, admission.patch)

    async def validate(self, request: AdmissionRequest, reviewer: Reviewer) -> Manifest:
        """Validates an update of a PodClique, which must not change the claims of its pods. A creation was validated by `podclique`."""
        if request.operation != "UPDATE" or is_terminating(request.object):
            return answer(request, [])
        settings = reviewer.settings(request)
        return answer(request, admit_podclique(request.object, request.old, None, reviewer.context, settings).findings)

    async def podgang(self, request: AdmissionRequest, reviewer: Reviewer) -> Manifest:
        """Reviews a PodGang, and marks it as the owner of existing domains: `DomainAdoption` adds the owner references afterwards."""
        if request.operation != "CREATE":
            return answer(request, [])
        admission = admit_podgang(request.object, self._view(), reviewer.context, reviewer.settings(request))
        return answer(request, [admission.problem] if admission.problem is not None else [], admission.patch)

    async def _admitted(self, request: AdmissionRequest, context: StepContext, settings: Settings) -> CliqueAdmission:
        """Creates the objects that a PodClique needs. Reads the set from the server, as it may be newer than the cache."""
        sets = await self._live(_named_set(request, settings))
        admission = admit_podclique(request.object, request.old, ObjectList(sets), context, settings, is_kept=True)
        if admission.objects:
            existing = await self._live(admission.objects)
            admission = admit_podclique(request.object, request.old, ObjectList([*sets, *existing]), context, settings, is_kept=True)
            names = {(manifest["kind"], manifest["metadata"]["name"]) for manifest in existing}
            missing = [manifest for manifest in admission.objects if (manifest["kind"], manifest["metadata"]["name"]) not in names]
            await self._create([] if request.is_dry_run else missing)
        if request.operation == "UPDATE":
            admission.findings = []  # the validating webhook reports those of an update
        return admission

    async def _live(self, manifests: Iterable[Manifest]) -> list[Manifest]:
        """Returns the live objects of manifests, as far as they exist."""
        live = []
        for manifest in manifests:
            try:
                resource = await self._cluster.resource(Kind.of(manifest))
            except UnknownKind:
                continue
            live.append(await find(self._cluster, resource, manifest["metadata"]["namespace"], manifest["metadata"]["name"]))
        return [each for each in live if each is not None]

    async def _create(self, manifests: Iterable[Manifest]) -> None:
        for manifest in manifests:
            try:
                await self._cluster.create(await self._cluster.resource(Kind.of(manifest)), manifest, manager=field_managers.OPERATOR)
            except AlreadyExists:  # by the review of another PodClique of the domain
                continue


def _named_set(request: AdmissionRequest, settings: Settings) -> list[Manifest]:
    labels = (request.object.get("metadata") or {}).get("labels")
    name = place_of(labels).set_name if isinstance(labels, dict) else ""
    metadata = {"name": name, "namespace": settings.namespace}
    return [{"apiVersion": f"{SET.group}/{SET.version}", "kind": SET.kind, "metadata": metadata}] if name else []


def _failure(reason: str) -> Diagnostic:
    message = f"its ComputeDomain could not be created: {reason}"
    return Diagnostic(CODE, "error", message, "metadata.annotations[grove.io/mnnvl-enabled]")
