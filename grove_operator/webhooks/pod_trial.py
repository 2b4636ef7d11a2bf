"""Creates the pods of a set as a dry run before the set is admitted, and reports what the API server rejects.

Otherwise a set whose pods are invalid would be stored, and never have pods.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from applier.cluster import Cluster, Resource
from applier.errors import ApiError, ApplierError, Cause, Forbidden, Invalid
from applier.ref import POD
from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.gangs.clique import CLIQUE_KIND, read_clique
from grove_compiler.graph.diagnostic import Diagnostic, Severity, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.impact.fate import rollout
from grove_compiler.kube import duration
from grove_compiler.labels import CLIQUE_LABEL
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_compiler.record import record
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_operator import field_managers
from grove_operator.webhooks.effects import CLUSTER_KINDS
from grove_operator.webhooks.share import Share

Mode = Literal["warn", "deny", "off"]
CODE = "admission/pod-refused"
AT_ONCE = 16
"""Concurrent trials, of all sets together."""
MAX_PODS = 64
"""Trials for one set. Further cliques are not tried."""
NOT_TRIED = re.compile(r"does not support dry run|exceeded quota")
"""Rejections that are not caused by the template: of a webhook without support for dry runs, and of an exhausted quota."""
LIST_ITEM = re.compile(r"^spec\.(\w+)\[(\d+)\]")
MAX_NAME_LENGTH = 50
"""Characters of `generateName`."""


@record
class TrialOptions:
    """`mode` is how a rejection is reported; `timeout` is the limit in seconds for all pods of a set."""

    mode: Mode = "warn"
    timeout: float = 3.0


def trial_options(config: Manifest) -> TrialOptions:
    """Returns the options of an OperatorConfiguration with defaults (`admission`)."""
    options = config["admission"]
    return TrialOptions(options["podTemplates"], duration.parse(options["podTemplatesTimeout"]) / duration.SECOND)


class PodTrial:
    """Tries pods, each with a create of `dryRun=All`. Failures other than rejections are ignored, and the set is admitted."""

    def __init__(self, cluster: Cluster, options: TrialOptions, share: Share | None = None) -> None:
        self._cluster, self._options = cluster, options
        self._share, self._room = share or Share(), asyncio.Semaphore(AT_ONCE)

    async def findings(
        self, old: Manifest, new: Manifest, context: StepContext, settings: Settings, view: ObjectReader | None
    ) -> list[Diagnostic]:
        """Returns the rejections of the pods of a valid set. `old` is empty for a new set.

        While the server is busy no templates are tried in the mode `warn`.
        """
        if self._options.mode == "off" or (self._options.mode == "warn" and self._share.is_exhausted):
            return []
        with self._share.work():
            pods = self._pods(old, new, context, settings, view)
        if not pods:
            return []
        try:
            async with asyncio.timeout(self._options.timeout):
                resource = await self._cluster.resource(POD)
                refusals = await asyncio.gather(*(self._try(resource, pod) for pod in pods))
        except (TimeoutError, ApplierError):
            return []
        return [finding for pod, refusal in zip(pods, refusals, strict=True) if refusal for finding in self._findings(pod, refusal)]

    def _pods(self, old: Manifest, new: Manifest, context: StepContext, settings: Settings, view: ObjectReader | None) -> list[TrialPod]:
        before, after = (manifest and context.decode(manifest) for manifest in (old, new))
        if not after or has_errors(after.findings):
            return []
        cliques = changed_cliques(before.manifest if before else {}, after.manifest)
        if not cliques:
            return []
        existing = [manifest for group, kind in CLUSTER_KINDS for manifest in view.by_label(group, kind)] if view is not None else []
        return trial_pods(after.manifest, cliques[:MAX_PODS], context, settings, existing)

    async def _try(self, resource: Resource, pod: TrialPod) -> ApiError | None:
        async with self._room:
            try:
                await self._cluster.create(resource, pod.manifest, manager=field_managers.OPERATOR, dry_run=True)
            except (Invalid, Forbidden) as error:
                return None if NOT_TRIED.search(error.message) else error
            except ApplierError:
                return None
        return None

    def _findings(self, pod: TrialPod, refusal: ApiError) -> list[Diagnostic]:
        start = f"spec.template.cliques[{pod.number}].spec.podSpec"
        severity: Severity = "error" if self._options.mode == "deny" else "warning"
        causes: Sequence[Cause] = [cause for cause in refusal.causes if cause.field.startswith("spec")] or [Cause("", "", refusal.message)]
        return [
            Diagnostic(CODE, severity, f'the API server rejects pods of clique "{pod.clique}": {cause.message}', _path(start, cause, pod))
            for cause in causes
        ]


def _path(start: str, cause: Cause, pod: TrialPod) -> str:
    """Returns the path in the set of a cause. Items of lists are matched by name, as the operator may have inserted others."""
    field = cause.field
    if not field.startswith("spec."):
        return start
    item = LIST_ITEM.match(field)
    if item is None:
        return start + field.removeprefix("spec")
    tried, declared = (spec.get(item[1]) or [] for spec in (pod.manifest["spec"], pod.declared))
    name = _name_of(tried, int(item[2]))
    index = next((index for index in range(len(declared)) if name and _name_of(declared, index) == name), None)
    return start if index is None else f"{start}.{item[1]}[{index}]{field[item.end() :]}"


def _name_of(items: Any, index: int) -> str:
    return str(items[index].get("name") or "") if index < len(items) and isinstance(items[index], dict) else ""


class TrialPod(NamedTuple):
    """A pod to be tried. `number` is the index of its clique in the set, `declared` the pod spec of the clique."""

    number: int
    clique: str
    manifest: Manifest
    declared: Manifest


def changed_cliques(old: Manifest, new: Manifest) -> list[str]:
    """Returns the cliques whose pod templates differ semantically; all of a new set. Both sets are defaulted."""
    names = [clique["name"] for clique in new["spec"]["template"]["cliques"]]
    if not old:
        return names
    templates = rollout(old, new, "").templates
    return [name for name in names if name in templates]


def trial_pods(
    pcs: Manifest, cliques: Sequence[str], context: StepContext, settings: Settings, existing: Sequence[Manifest]
) -> list[TrialPod]:
    """Returns a pod of each of the cliques as the operator would create it, without references to objects that may not exist yet.

    Returns none for a set that cannot be compiled, for which validation reports the errors.
    """
    inputs = Inputs([Document(_smallest(pcs))], existing, [], context.document, replace(settings, pods=True))
    result = compile_inputs(inputs, context.program)
    if has_errors(result.diagnostics):
        return []
    declared = {clique["name"]: (index, clique["spec"]["podSpec"]) for index, clique in enumerate(pcs["spec"]["template"]["cliques"])}
    nodes = [node.object for node in result.graph.nodes]
    templates = {read_clique(node).name: read_clique(node).template_name for node in nodes if node["kind"] == CLIQUE_KIND}
    pods: dict[str, TrialPod] = {}
    for pod in nodes:
        name = templates.get(pod["metadata"]["labels"].get(CLIQUE_LABEL, ""), "") if pod["kind"] == "Pod" else ""
        if name in cliques and name not in pods:
            number, pod_spec = declared[name]
            pods[name] = TrialPod(number, name, _for_trial(pod, pcs["metadata"]["name"]), pod_spec)
    return list(pods.values())


def _smallest(pcs: Manifest) -> Manifest:
    """Returns the set with one replica of everything, as the pods of a clique differ only in their names."""
    spec, template = pcs["spec"], pcs["spec"]["template"]
    one = {"replicas": 1, "minAvailable": 1}
    cliques = [{**clique, "spec": {**_without(clique["spec"], "autoScalingConfig"), **one}} for clique in template["cliques"]]
    smaller = {**template, "cliques": cliques}
    if groups := template.get("podCliqueScalingGroups"):
        smaller["podCliqueScalingGroups"] = [{**_without(group, "scaleConfig"), **one} for group in groups]
    return {**pcs, "spec": {**spec, "replicas": 1, "template": smaller}}


def _for_trial(pod: Manifest, set_name: str) -> Manifest:
    """Returns a pod with a generated name, as one of its name may exist, and without owners, which have no UID yet.

    It uses the default ServiceAccount of the namespace instead of the set's own, which does not exist before the set.
    """
    metadata = _without(pod["metadata"], "name", "ownerReferences")
    metadata["generateName"] = pod["metadata"]["name"][:MAX_NAME_LENGTH] + "-"
    spec = pod["spec"]
    if spec.get("serviceAccountName") == set_name:
        spec = _without(spec, "serviceAccountName")
    return {**pod, "metadata": metadata, "spec": spec}


def _without(manifest: Manifest, *keys: str) -> Manifest:
    return {key: value for key, value in manifest.items() if key not in keys}
