"""Reads the objects that an operator watches: once from a cluster, or from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from applier.cache import Query, read_once
from applier.ref import EVENT, Kind, Manifest
from grove_cli.queries.tree_query import not_served
from grove_compiler.decoder import SET_KIND
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
    """Returns the objects of a file. Raises `Reported` after printing findings about it."""
    from grove_cli import findings
    from grove_cli.reading.inputs import InputReader

    reader = InputReader()
    objects = reader.snapshot(path)
    findings.report(reader.problems, reader.find_file)
    unserved = set() if any(_is_of_driver(manifest) for manifest in objects) else {COMPUTE_DOMAIN}
    return ReadObjects(objects, unserved, set())


def _is_of_driver(manifest: Manifest) -> bool:
    return manifest["metadata"]["name"] == "computedomains.resource.nvidia.com" or Kind.of(manifest) == COMPUTE_DOMAIN
