"""Answers about PodCliques that another controller writes: makes the ComputeDomains that their pods join, and puts claims into them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable

from applier.cluster import Cluster, find
from applier.errors import AlreadyExists, ApplierError, UnknownKind
from applier.ref import Kind
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest
from grove_compiler.mnnvl_admission import CliqueAdmission, admit_podclique, admit_podgang
from grove_compiler.model.admitted.place import place_of
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList, Objects
from grove_compiler.step import Context
from grove_operator.webhooks.review import Request, answer

MANAGER = "grove-operator"
SET = Kind("grove.io", "v1alpha1", "PodCliqueSet")
PATIENCE = 8.0
"""Seconds for all that is asked and made for one PodClique; an API server waits ten."""
CODE = "admission/domain-not-made"


class DomainWebhooks:
    """Writes what has to be there before pods can refer to it, unless the request is a trial (`dryRun`)."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def podclique(self, request: Request, context: Context, settings: Settings) -> Manifest:
        """Returns the answer about a PodClique: its claim as a patch, or a refusal with every reason."""
        if request.operation not in ("CREATE", "UPDATE") or _is_leaving(request):
            return answer(request, [])
        try:
            async with asyncio.timeout(PATIENCE):
                admission = await self._admitted(request, context, settings)
        except TimeoutError:
            return answer(request, [_not_made(f"the API server did not answer within {PATIENCE:g} s")])
        except ApplierError as error:
            return answer(request, [_not_made(str(error))])
        return answer(request, admission.findings, _json(admission.patch))

    def validate(self, request: Request, context: Context, settings: Settings) -> Manifest:
        """Returns whether an update of a PodClique keeps what its pods have. A new one was judged when its claim was added."""
        if request.operation != "UPDATE" or _is_leaving(request):
            return answer(request, [])
        return answer(request, admit_podclique(request.object, request.old, None, context, settings).findings)

    def podgang(self, request: Request, context: Context, settings: Settings, view: Objects) -> Manifest:
        """Returns the answer about a PodGang, which says that it owns domains where there are any: they are handed over once it exists."""
        if request.operation != "CREATE":
            return answer(request, [])
        admission = admit_podgang(request.object, view, context, settings)
        return answer(request, [admission.problem] if admission.problem is not None else [], _json(admission.patch))

    async def _admitted(self, request: Request, context: Context, settings: Settings) -> CliqueAdmission:
        """The set is read from the server, for a cache may not have heard of a new one yet; then what the PodClique needs."""
        sets = await self._live(_named_set(request, settings))
        admission = admit_podclique(request.object, {}, ObjectList(sets), context, settings)
        if admission.objects:
            found = await self._live(admission.objects)
            admission = admit_podclique(request.object, {}, ObjectList([*sets, *found]), context, settings)
            names = {(one["kind"], one["metadata"]["name"]) for one in found}
            missing = [one for one in admission.objects if (one["kind"], one["metadata"]["name"]) not in names]
            await self._make([] if request.is_dry_run else missing)
        if request.operation == "UPDATE":
            admission.findings = []  # its validation tells what is wrong with an update
        return admission

    async def _live(self, wanted: Iterable[Manifest]) -> list[Manifest]:
        """What of these objects is there."""
        found = []
        for one in wanted:
            try:
                resource = await self._cluster.resource(Kind.of(one))
            except UnknownKind:
                continue
            found.append(await find(self._cluster, resource, one["metadata"]["namespace"], one["metadata"]["name"]))
        return [one for one in found if one is not None]

    async def _make(self, objects: Iterable[Manifest]) -> None:
        for one in objects:
            try:
                await self._cluster.create(await self._cluster.resource(Kind.of(one)), one, manager=MANAGER)
            except AlreadyExists:  # another PodClique of the domain came first
                continue


def _named_set(request: Request, settings: Settings) -> list[Manifest]:
    labels = (request.object.get("metadata") or {}).get("labels")
    name = place_of(labels).set_name if isinstance(labels, dict) else ""
    metadata = {"name": name, "namespace": settings.namespace}
    return [{"apiVersion": f"{SET.group}/{SET.version}", "kind": SET.kind, "metadata": metadata}] if name else []


def _is_leaving(request: Request) -> bool:
    return bool((request.object.get("metadata") or {}).get("deletionTimestamp"))


def _not_made(reason: str) -> Diagnostic:
    message = f"its ComputeDomain could not be made: {reason}"
    return Diagnostic(CODE, "error", message, "metadata.annotations[grove.io/mnnvl-enabled]")


def _json(patch: list[Manifest]) -> bytes:
    return json.dumps(patch, separators=(",", ":")).encode() if patch else b""
