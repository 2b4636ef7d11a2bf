"""Builds the pods for the trial of a set: one for each clique whose template is new or changed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.gangs.clique import CLIQUE_KIND, read_clique
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.impact.fate import rollout
from grove_compiler.labels import CLIQUE_LABEL
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document

MAX_NAME_LENGTH = 50
"""Characters of `generateName`."""


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
    pcs: Manifest, cliques: Sequence[str], program: Program, settings: Settings, config: Document | None, existing: Sequence[Manifest]
) -> list[TrialPod]:
    """Returns a pod of each of the cliques as the operator would create it, without references to objects that may not exist yet.

    Returns none for a set that cannot be compiled, for which validation reports the errors.
    """
    inputs = Inputs([Document(_smallest(pcs))], existing, [], config, replace(settings, pods=True))
    result = compile_inputs(inputs, program)
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
