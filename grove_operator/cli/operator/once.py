"""`grove operator run --once`: what the operator would write now, for people and for programs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from applier.cache import Query, read_once
from applier.decision import Schemas
from grove_compiler.step import Context
from grove_operator.cli.operator.read_objects import in_cluster, in_file
from grove_operator.cli.output import encoded, json_report, write
from grove_operator.controller.rehearsal import Rehearsal, Would
from grove_operator.terminal import visible

if TYPE_CHECKING:
    from applier.cluster import Cluster

DIFFERS, WRONG = 1, 2
UNDONE = ("hold", "failed", "held")


async def of_a_cluster(cluster: Cluster, context: Context, namespace: str, output: str) -> int:
    """Looks at a cluster, prints what would be written to it, and returns the exit code. Raises `ClusterError` where it cannot be read."""
    existing = await in_cluster(cluster, context, namespace)
    rehearsal = Rehearsal(existing.objects, existing.unserved, context, time.time, namespace)
    kinds = rehearsal.kinds()
    more = await read_once(cluster, [Query(kind, namespace) for kind in kinds - existing.asked])
    rehearsal.add(more.objects.values())
    return _tell(list(rehearsal.would(await cluster.schemas(kinds))), output)


def of_a_snapshot(path: str, context: Context, namespace: str, output: str) -> int:
    """Looks at recorded objects and prints what would be written. Raises `Reported` after findings about the file were printed."""
    existing = in_file(path)
    rehearsal = Rehearsal(existing.objects, existing.unserved, context, time.time, namespace)
    return _tell(list(rehearsal.would(Schemas())), output)


def _tell(would: Sequence[Would], output: str) -> int:
    write([json_report([one._asdict() for one in would])] if output == "json" else map(encoded, _table(would)))
    return WRONG if any(one.does in UNDONE for one in would) else DIFFERS if would else 0


def _table(would: Sequence[Would]) -> Iterable[str]:
    """Yields a heading for each key, and a line for each write."""
    width = max((len(one.object) for one in would), default=0)
    key = ""
    for one in would:
        if one.key != key:
            key = one.key
            yield f"{visible(key)}\n"
        yield f"  {one.does:9}  {visible(one.object):{width}}  {visible(one.why)}".rstrip() + "\n"
    if not would:
        yield "nothing to do\n"
