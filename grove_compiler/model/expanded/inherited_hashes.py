"""Hashes that a set has although nothing is recorded of its templates: the shipped operator gave them, or another release of this one.

The shipped operator records no templates, and its hashes change with the version of Kubernetes' types that it was built with. To compare
them with ours would restart every pod once (grove #709). But for a set that was not edited since that operator has looked at it, its
statuses and labels say which hashes belong to what is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import status_of
from grove_compiler.model.expanded.recorded_templates import POD_HASH_LABEL, Hashes
from grove_compiler.model.inputs.snapshot import is_terminating
from grove_compiler.model.names import part_of
from grove_compiler.model.spec.templates import CliqueTemplate

GROUP, MEMBER = "grove.io/podcliquescalinggroup", "grove.io/podcliquescalinggroup-replica-index"
SET, REPLICA = "app.kubernetes.io/part-of", "grove.io/podcliqueset-replica-index"


def knows_hashes(live: Manifest, generation: int | None) -> bool:
    """Tells whether a set says of itself which hash this generation of it has."""
    status = status_of(live)
    return bool(status.get("currentGenerationHash")) and generation is not None and status.get("observedGeneration") == generation


def inherited_hashes(
    cliques: Sequence[CliqueTemplate], live: Manifest, pod_cliques: Callable[[], Iterable[Manifest]], computed: Hashes
) -> Hashes | None:
    """Returns the hashes that a set which knows its own was given; none where they are those that are `computed`.

    A clique that has no PodClique, or of which none is known to be up to date, has what is computed: none of its pods bears another.
    """
    status = live["status"]
    generation = status["currentGenerationHash"]
    if generation == computed[1]:
        return None
    progress = status.get("updateProgress") or {}
    is_rolling = bool(progress.get("updateStartedAt")) and not progress.get("updateEndedAt")
    found = {}
    for one in pod_cliques():
        hash = "" if is_terminating(one) else _declared_hash(one, generation, is_rolling)
        if hash:
            found[one["metadata"]["name"].removeprefix(_place(one))] = hash
    return [found.get(clique.name, hash) for clique, hash in zip(cliques, computed[0], strict=True)], generation


def _declared_hash(pod_clique: Manifest, generation: str, is_rolling: bool) -> str:
    """The hash that what is declared has, as far as a PodClique knows it: in a scaling group it may wait for its turn in an update."""
    labels, status = pod_clique["metadata"].get("labels") or {}, status_of(pod_clique)
    if status.get("currentPodCliqueSetGenerationHash") == generation:
        return status.get("currentPodTemplateHash") or ""
    return "" if is_rolling and GROUP in labels else labels.get(POD_HASH_LABEL) or ""


def _place(pod_clique: Manifest) -> str:
    """What stands before the name of its clique in the name of a PodClique."""
    labels = pod_clique["metadata"].get("labels") or {}
    owner, index = (labels.get(GROUP), labels.get(MEMBER)) if GROUP in labels else (labels.get(SET), labels.get(REPLICA))
    return part_of(part_of(owner or "", index or ""), "")
