"""Has an API server try the pods of a set before the set is taken: what it would refuse is told to whoever edits the set.

A set whose pods no server takes would otherwise be stored, and never get any.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Literal

from applier.cluster import Cluster, Resource
from applier.errors import ApiError, ApplierError, Cause, Forbidden, Invalid
from applier.ref import Kind
from grove_compiler.graph.diagnostic import Diagnostic, Severity, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.kube import duration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Objects
from grove_compiler.record import record
from grove_compiler.source.document import Document
from grove_compiler.step import Context
from grove_operator.webhooks.share import Share
from grove_operator.webhooks.trial_pods import TrialPod, changed_cliques, trial_pods

Mode = Literal["warn", "deny", "off"]
POD = Kind("", "v1", "Pod")
CODE = "admission/pod-refused"
MANAGER = "grove-operator"
AT_ONCE = 16
"""Pods in trial at the same time, of all sets together."""
MOST_PODS = 64
"""Of one set. Those of further cliques are not tried."""
OF_ALL = (("grove.io", "ClusterTopology"), ("grove.io", "ClusterTopologyBinding"), ("kai.scheduler", "Topology"))
NOT_TRIED = re.compile(r"does not support dry run|exceeded quota")
"""What says nothing about the template: another webhook that takes no trials, and a quota that has room again tomorrow."""
LIST_ITEM = re.compile(r"^spec\.(\w+)\[(\d+)\]")


@record
class TrialOptions:
    """`mode` says what a refusal is; `timeout` is how many seconds all pods of a set have together."""

    mode: Mode = "warn"
    timeout: float = 3.0


def trial_options(config: Manifest) -> TrialOptions:
    """Returns what an OperatorConfiguration says (`admission`), with its defaults."""
    told = config["admission"]
    return TrialOptions(told["podTemplates"], duration.parse(told["podTemplatesTimeout"]) / duration.SECOND)


class PodTrial:
    """Tries pods, each with a create that nothing comes of (`dryRun=All`). Whatever keeps it from trying lets the set pass."""

    def __init__(self, cluster: Cluster, options: TrialOptions, share: Share | None = None) -> None:
        self._cluster, self._options = cluster, options
        self._share, self._room = share or Share(), asyncio.Semaphore(AT_ONCE)

    async def findings(
        self, old: Manifest, new: Manifest, context: Context, settings: Settings, config: Document | None, view: Objects | None
    ) -> list[Diagnostic]:
        """Returns what the API server says against the pods of a set that is sound. `old` is empty for a new one.

        Of a busy server no template is tried for the sake of a warning.
        """
        if self._options.mode == "off" or (self._options.mode == "warn" and self._share.is_used_up):
            return []
        with self._share.work():
            pods = self._pods(old, new, context, settings, config, view)
        if not pods:
            return []
        try:
            async with asyncio.timeout(self._options.timeout):
                resource = await self._cluster.resource(POD)
                refusals = await asyncio.gather(*(self._tried(resource, pod) for pod in pods))
        except (TimeoutError, ApplierError):
            return []
        return [finding for pod, refusal in zip(pods, refusals, strict=True) if refusal for finding in self._told(pod, refusal)]

    def _pods(
        self, old: Manifest, new: Manifest, context: Context, settings: Settings, config: Document | None, view: Objects | None
    ) -> list[TrialPod]:
        before, after = (one and context.decode(one) for one in (old, new))
        if not after or has_errors(after.findings):
            return []
        cliques = changed_cliques(before.manifest if before else {}, after.manifest)
        if not cliques:
            return []
        existing = [one for group, kind in OF_ALL for one in view.by_label(group, kind)] if view is not None else []
        return trial_pods(after.manifest, cliques[:MOST_PODS], context.program, settings, config, existing)

    async def _tried(self, resource: Resource, pod: TrialPod) -> ApiError | None:
        async with self._room:
            try:
                await self._cluster.create(resource, pod.manifest, manager=MANAGER, dry_run=True)
            except (Invalid, Forbidden) as error:
                return None if NOT_TRIED.search(error.message) else error
            except ApplierError:
                return None
        return None

    def _told(self, pod: TrialPod, refusal: ApiError) -> list[Diagnostic]:
        start = f"spec.template.cliques[{pod.number}].spec.podSpec"
        severity: Severity = "error" if self._options.mode == "deny" else "warning"
        causes: Sequence[Cause] = [one for one in refusal.causes if one.field.startswith("spec")] or [Cause("", "", refusal.message)]
        return [
            Diagnostic(CODE, severity, f'the API server refuses pods of clique "{pod.clique}": {one.message}', _path(start, one, pod))
            for one in causes
        ]


def _path(start: str, cause: Cause, pod: TrialPod) -> str:
    """Returns the field of the set that a cause is about. The operator may have put items of its own into lists, so names tell which."""
    field = cause.field
    if not field.startswith("spec."):
        return start
    item = LIST_ITEM.match(field)
    if item is None:
        return start + field.removeprefix("spec")
    tried, declared = (one.get(item[1]) or [] for one in (pod.manifest["spec"], pod.declared))
    name = _name_of(tried, int(item[2]))
    index = next((index for index in range(len(declared)) if name and _name_of(declared, index) == name), None)
    return start if index is None else f"{start}.{item[1]}[{index}]{field[item.end() :]}"


def _name_of(items: Any, index: int) -> str:
    return str(items[index].get("name") or "") if index < len(items) and isinstance(items[index], dict) else ""
