"""Reads what exists as an operator sees it: from a cluster once, or from a file of recorded objects."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from applier.cache import Query, read_once
from applier.ref import Kind, Manifest
from grove_compiler.step import Context
from grove_operator import findings
from grove_operator.cli.cluster.session import Reported
from grove_operator.controller.live_objects import COMPUTE_DOMAIN
from grove_operator.controller.operator import watched

if TYPE_CHECKING:
    from applier.cluster import Cluster

EVENT = Kind("", "v1", "Event")


class ReadObjects(NamedTuple):
    """Objects, the kinds that the server does not serve, and all kinds that were asked for."""

    objects: list[Manifest]
    unserved: set[Kind]
    asked: set[Kind]


async def in_cluster(cluster: Cluster, context: Context, namespace: str) -> ReadObjects:
    """Returns what an operator watches there, and events; all namespaces where none is given. Raises `ClusterError`."""
    wanted = [*watched(namespace, context.settings), Query(EVENT, namespace)]
    by_labels = [
        await read_once(cluster, [one for one in wanted if one.labels == labels], labels=labels)
        for labels in {one.labels for one in wanted}
    ]
    unserved = {kind for each in by_labels for kind in each.unserved}
    return ReadObjects([one for each in by_labels for one in each.objects.values()], unserved, {one.kind for one in wanted})


def in_file(path: str) -> ReadObjects:
    """Returns recorded objects. Raises `Reported` after findings about the file were printed."""
    from grove_operator.reading.inputs import InputReader

    reader = InputReader()
    objects = reader.snapshot(path)
    if reader.problems:
        findings.write(reader.problems, reader.find_file, sys.stderr)
        raise Reported
    unserved = set() if any(_is_of_driver(one) for one in objects) else {COMPUTE_DOMAIN}
    return ReadObjects(objects, unserved, set())


def _is_of_driver(manifest: Manifest) -> bool:
    return manifest["metadata"]["name"] == "computedomains.resource.nvidia.com" or Kind.of(manifest) == COMPUTE_DOMAIN
