"""Reports how far the rollout of a set has come, by its status and those of its PodCliques, and says so as kubectl does."""

from __future__ import annotations

from collections.abc import Sequence

from applier.cluster import Cluster, Resource
from applier.ref import Manifest
from grove_cli.queries.rollout.edits import ON_DELETE, PAUSED, annotations_of, refuse_training, strategy_of
from grove_cli.queries.sets_query import count_in, why_of
from grove_cli.queries.tree_query import read_set
from grove_compiler.kube.conditions import PROGRESS_DEADLINE_EXCEEDED, UPDATE_IN_PROGRESS, condition_in, is_held, status_of
from grove_compiler.labels import PART_OF
from grove_compiler.record import record
from kube_objects.manifest import is_terminating


@record
class RolloutProgress:
    """A rollout. Of the declared `pods` some are `updated`, and some `ready`; of the `replicas` some are `available`.

    One may be `updating`. `is_observed`: the operator has seen the last edit. `is_held`: it has errors, and nothing of it takes effect.
    `is_rolling`: pods are replaced. `is_late`: there is no progress for a `progressDeadline`. `why` may be empty. `kinds` have been read.
    """

    name: str
    namespace: str
    pods: int
    updated: int
    ready: int
    replicas: int
    available: int
    updating: int | None
    is_observed: bool
    is_held: bool
    is_rolling: bool
    is_late: bool
    is_manual: bool
    is_paused: bool
    why: str
    kinds: Sequence[Resource] = ()

    @property
    def is_over(self) -> bool:
        """Whether all declared pods are updated, and all replicas available."""
        if not self.is_observed or self.is_held or self.is_rolling or self.available < self.replicas:
            return False
        return not self.is_manual or self.updated >= self.pods

    @property
    def state(self) -> str:
        """`Complete`, `Late`, `Paused` or `InProgress`."""
        return "Complete" if self.is_over else "Late" if self.is_late else "Paused" if self.is_paused else "InProgress"


async def read_progress(cluster: Cluster, argument: str, namespace: str) -> RolloutProgress:
    """Reads a set and its PodCliques. Raises `ClusterError`, `NoSuchObject`, and `EditRefused` for a training workload."""
    resource, pcs = await read_set(cluster, argument, namespace)
    refuse_training(pcs)
    metadata = pcs["metadata"]
    clique = await cluster.resource(resource.kind._replace(kind="PodClique"))
    listing = await cluster.list(clique, metadata["namespace"], labels=f"{PART_OF}={metadata['name']}")
    return progress_of(pcs, listing.items, (resource, clique))


def progress_of(pcs: Manifest, cliques: Sequence[Manifest], kinds: Sequence[Resource] = ()) -> RolloutProgress:
    """Returns the progress of a set with these PodCliques."""
    metadata, spec, status = pcs["metadata"], pcs["spec"], status_of(pcs)
    current = [clique for clique in cliques if not is_terminating(clique)]
    declared = [count_in((clique.get("spec") or {}).get("replicas")) for clique in current]
    updated, ready = ([count_in(status_of(clique).get(field)) for clique in current] for field in ("updatedReplicas", "readyReplicas"))
    update = status.get("updateProgress") or {}
    is_observed = count_in(status.get("observedGeneration")) >= count_in(metadata.get("generation"))
    updating = [entry.get("replicaIndex") for entry in update.get("currentlyUpdating") or [] if not entry.get("updateEndedAt")]
    return RolloutProgress(
        metadata["name"],
        metadata.get("namespace") or "",
        pods=sum(declared),
        updated=sum(map(min, updated, declared)),
        ready=sum(map(min, ready, declared)),
        replicas=count_in(spec.get("replicas")),
        available=count_in(status.get("availableReplicas")),
        updating=next((index for index in updating if isinstance(index, int)), None),
        is_observed=is_observed,
        is_held=is_held(pcs),
        is_rolling=bool(update) and not update.get("updateEndedAt"),
        is_late=is_observed and condition_in(status, UPDATE_IN_PROGRESS).get("reason") == PROGRESS_DEADLINE_EXCEEDED,
        is_manual=strategy_of(pcs) == ON_DELETE,
        is_paused=PAUSED in annotations_of(pcs),
        why=why_of(pcs),
        kinds=kinds,
    )


def message_of(progress: RolloutProgress) -> str:
    """Returns the state of a rollout in the words of kubectl."""
    if progress.is_over:
        return f'podcliqueset "{progress.name}" successfully rolled out'
    if not progress.is_observed:
        what = "Waiting for podcliqueset spec update to be observed..."
    elif progress.is_held:
        what = f'Waiting for podcliqueset "{progress.name}" spec update to be fixed...'
    elif progress.is_late:
        what = f'podcliqueset "{progress.name}" exceeded its progress deadline: {_counts(progress)}...'
    else:
        what = f'Waiting for podcliqueset "{progress.name}" rollout to finish: {_counts(progress)}...'
    return f"{what} {progress.why}" if progress.why else what


def _counts(progress: RolloutProgress) -> str:
    if progress.updated < progress.pods or progress.is_rolling:
        counts = f"{progress.updated} of {progress.pods} pods are updated"
        if progress.is_manual:
            return f"{counts}; {'it is paused' if progress.is_paused else 'with OnDelete, pods are updated only when they are deleted'}"
        if progress.updated >= progress.pods > progress.ready:
            return f"{counts}, {progress.ready} of {progress.pods} are ready"
        return counts if progress.updating is None else f"{counts}, now in replica {progress.updating}"
    return f"{progress.available} of {progress.replicas} replicas are available"
