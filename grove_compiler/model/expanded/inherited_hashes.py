"""Finds the hashes of a set without recorded templates, as assigned by the shipped operator or by another release of this one.

The shipped operator records no templates, and its hashes change with the version of Kubernetes' types that it was built with. Comparing
them with ours would restart every pod once (grove #709). But while a set has not been edited since that operator last observed it, its
statuses and labels tell which hashes belong to the current spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import status_of
from grove_compiler.labels import GROUP_LABEL, MEMBER_LABEL, PART_OF, POD_HASH_LABEL, REPLICA_LABEL
from grove_compiler.model.expanded.recorded_templates import Hashes
from grove_compiler.model.names import part_of
from grove_compiler.model.spec.templates import CliqueTemplate
from kube_objects.manifest import is_terminating


def knows_hashes(live: Manifest, generation: int | None) -> bool:
    """Reports whether a set's status holds the hash of this generation."""
    status = status_of(live)
    return bool(status.get("currentGenerationHash")) and generation is not None and status.get("observedGeneration") == generation


def inherited_hashes(
    cliques: Sequence[CliqueTemplate], live: Manifest, pod_cliques: Callable[[], Iterable[Manifest]], computed: Hashes
) -> Hashes | None:
    """Returns the hashes in the statuses and labels of a set for which `knows_hashes` holds; none where they equal the `computed` ones.

    A clique without a PodClique that is known to be up to date gets its computed hash: no pod of it has another one.
    """
    status = live["status"]
    generation = status["currentGenerationHash"]
    if generation == computed[1]:
        return None
    progress = status.get("updateProgress") or {}
    is_rolling = bool(progress.get("updateStartedAt")) and not progress.get("updateEndedAt")
    inherited = {}
    for pod_clique in pod_cliques():
        template_hash = "" if is_terminating(pod_clique) else _declared_hash(pod_clique, generation, is_rolling)
        if template_hash:
            inherited[pod_clique["metadata"]["name"].removeprefix(_place(pod_clique))] = template_hash
    return [inherited.get(clique.name, template_hash) for clique, template_hash in zip(cliques, computed[0], strict=True)], generation


def _declared_hash(pod_clique: Manifest, generation: str, is_rolling: bool) -> str:
    """Returns the hash of the current template by a PodClique; empty if it does not know, as in a group that waits for its update."""
    labels, status = pod_clique["metadata"].get("labels") or {}, status_of(pod_clique)
    if status.get("currentPodCliqueSetGenerationHash") == generation:
        return status.get("currentPodTemplateHash") or ""
    return "" if is_rolling and GROUP_LABEL in labels else labels.get(POD_HASH_LABEL) or ""


def _place(pod_clique: Manifest) -> str:
    """Returns the prefix of a PodClique's name before the name of its clique."""
    labels = pod_clique["metadata"].get("labels") or {}
    names = (GROUP_LABEL, MEMBER_LABEL) if GROUP_LABEL in labels else (PART_OF, REPLICA_LABEL)
    owner, index = map(labels.get, names)
    return part_of(part_of(owner or "", index or ""), "")
