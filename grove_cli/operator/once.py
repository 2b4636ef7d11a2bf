"""Implements `grove operator run --once`: prints what the operator would write, as text or JSON."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from applier.cache import Query, read_once
from applier.decision import Schemas
from applier.ref import Manifest, Ref
from grove_cli.cluster.session import say
from grove_cli.exit_codes import EXIT_ERROR, EXIT_FINDINGS
from grove_cli.operator.read_objects import in_cluster, in_file
from grove_cli.output import encoded, json_report, write
from grove_cli.terminal import visible
from grove_compiler.step import StepContext
from grove_operator.controller.dry_run import DryRun, PlannedWrite

if TYPE_CHECKING:
    from grove_cli.cluster.session import Session

UNDONE = ("hold", "failed", "held")


async def of_a_cluster(session: Session, context: StepContext, namespace: str, output: str) -> int:
    """Prints what would be written to a cluster, and returns the exit code. Raises `ClusterError` when it cannot be read."""
    cluster = session.cluster
    existing = await in_cluster(cluster, context, namespace)
    dry_run = DryRun(existing.objects, existing.unserved, context, session.clock, namespace)
    kinds = dry_run.kinds()
    others = await read_once(cluster, [Query(kind, namespace) for kind in kinds - existing.kinds])
    dry_run.add(others.objects.values())
    return _report(list(dry_run.writes(await cluster.schemas(kinds))), output)


def of_a_snapshot(path: str, context: StepContext, namespace: str, output: str) -> int:
    """Prints what would be written to recorded objects. Raises `Reported` after printing findings about the file."""
    existing = in_file(path)
    dry_run = DryRun(existing.objects, existing.unserved, context, time.time, namespace)
    writes = list(dry_run.writes(Schemas()))
    _tell_of_missing_kinds(writes, existing.objects)
    return _report(writes, output)


def _tell_of_missing_kinds(writes: Sequence[PlannedWrite], objects: Sequence[Manifest]) -> None:
    """Prints the kinds that would be created and that a snapshot of a running set does not have: it may only lack them."""
    recorded = {_kind_of(str(Ref.of(one))) for one in objects}
    missing = {_kind_of(planned.object) for planned in writes if planned.does == "create"} - recorded
    if missing and "PodClique.grove.io" in recorded:
        kinds = ", ".join(sorted(missing))
        say(f"the snapshot has no {kinds}: existing ones are listed as if they were created; add them, or omit --snapshot")


def _kind_of(object_id: str) -> str:
    return object_id.partition("/")[0]


def _report(writes: Sequence[PlannedWrite], output: str) -> int:
    write([json_report([planned._asdict() for planned in writes])] if output == "json" else map(encoded, _table(writes)))
    return EXIT_ERROR if any(planned.does in UNDONE for planned in writes) else EXIT_FINDINGS if writes else 0


def _table(writes: Sequence[PlannedWrite]) -> Iterable[str]:
    """Yields a heading for each key, and a line for each write."""
    width = max((len(planned.object) for planned in writes), default=0)
    key = ""
    for planned in writes:
        if planned.key != key:
            key = planned.key
            yield f"{visible(key)}\n"
        yield f"  {planned.does:9}  {visible(planned.object):{width}}  {visible(planned.why)}".rstrip() + "\n"
    if not writes:
        yield "nothing to do\n"
