"""Reads the objects that an operator watches: once from a cluster, or from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from applier.cache import Query, read_once
from applier.ref import EVENT, Kind, Manifest, Ref
from grove_cli.queries.tree_query import not_served
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.step import StepContext
from grove_operator.controller.live_objects import COMPUTE_DOMAIN
from grove_operator.controller.operator import watched

if TYPE_CHECKING:
    from applier.cluster import Cluster


class ReadObjects(NamedTuple):
    """Objects, the kinds that the server does not serve, and all kinds that were listed."""

    objects: list[Manifest]
    unserved: set[Kind]
    kinds: set[Kind]


async def in_cluster(cluster: Cluster, context: StepContext, namespace: str) -> ReadObjects:
    """Returns the objects that an operator watches, and events; of all namespaces without a `namespace`.

    Raises `ClusterError`; `NoSuchObject` if the server does not serve PodCliqueSets, because nothing can be said of them then.
    """
    watches = [*watched(namespace, context.settings), Query(EVENT, namespace)]
    by_labels = [
        await read_once(cluster, [watch for watch in watches if watch.labels == labels], labels=labels)
        for labels in {watch.labels for watch in watches}
    ]
    unserved = {kind for each in by_labels for kind in each.unserved}
    if any(kind.kind == SET_KIND for kind in unserved):
        raise not_served(SET_KIND)
    return ReadObjects([manifest for each in by_labels for manifest in each.objects.values()], unserved, {watch.kind for watch in watches})


def in_file(path: str) -> ReadObjects:
    """Returns the objects of a file, those without a namespace in the default one. Raises `Reported` after printing findings about it."""
    from grove_cli import findings
    from grove_cli.reading.inputs import InputReader

    reader = InputReader()
    objects = list(_placed(reader.snapshot(path)))
    findings.report(reader.problems, reader.find_file)
    unserved = set() if any(_is_of_driver(manifest) for manifest in objects) else {COMPUTE_DOMAIN}
    return ReadObjects(objects, unserved, set())


def _placed(objects: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yields objects as a cluster would have them: each in a namespace that can be in one, since the operator looks for it there."""
    namespace = Settings().namespace
    watches = watched(namespace, Settings(pods=True, is_operator=True))
    namespaced = {(watch.kind.group, watch.kind.kind) for watch in watches if watch.namespace}
    for manifest in objects:
        ref = Ref.of(manifest)
        is_placed = bool(ref.namespace) or (ref.group, ref.kind) not in namespaced
        yield manifest if is_placed else {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


def _is_of_driver(manifest: Manifest) -> bool:
    return manifest["metadata"]["name"] == "computedomains.resource.nvidia.com" or Kind.of(manifest) == COMPUTE_DOMAIN
