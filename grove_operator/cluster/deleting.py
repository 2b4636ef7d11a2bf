"""What `grove delete` takes away: what files name, what we made of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from applier.cluster import Cluster
from applier.desired import Desired, Graph
from applier.outcome import Action, Outcome, Step
from applier.plan.takeover import applied_by
from applier.prune.deletion import Deletion
from applier.prune.teardown import teardown
from applier.ref import Manifest, Ref, resource_version_of, uid_of
from applier.run.reading import read

RULE = "rule "
"""How the source of a compiled object begins."""


class Doomed(NamedTuple):
    """The live objects that go; those that files name and that are not there; and those that rules name but that are not ours."""

    going: dict[Ref, Manifest]
    missing: list[Ref]
    foreign: list[Ref]


async def doomed(graph: Graph, cluster: Cluster, *, manager: str) -> Doomed:
    """What of a graph goes. An object that a file names goes, as with kubectl: people mean it.

    One that a rule made goes only if it is ours: this manager has applied it, or its owner goes. Raises `ClusterError`.
    """
    live = await read(graph, cluster)
    found = Doomed({}, [], [])
    uids: set[str] = set()
    for desired in graph.objects.values():
        manifest = live.get(desired.ref)
        if manifest is None:
            found.missing.extend([] if _is_compiled(desired) else [desired.ref])
        elif not _is_compiled(desired) or applied_by(manifest, manager) or _owners(manifest) & uids:
            found.going[desired.ref] = manifest
            uids.add(uid_of(manifest))
        else:
            found.foreign.append(desired.ref)
    return found


async def delete(found: Doomed, graph: Graph, deletion: Deletion) -> list[Outcome]:
    """Deletes these objects, what rests on others first, each with its UID; an outcome for each."""
    steps = [Step(ref, Action.PRUNED, uid=uid_of(live), resource_version=resource_version_of(live)) for ref, live in found.going.items()]
    return await deletion.run(steps, found.going, teardown(found.going.values(), graph))


def _is_compiled(desired: Desired) -> bool:
    return desired.source.startswith(RULE)


def _owners(manifest: Manifest) -> set[str]:
    references: Iterable[Manifest] = manifest["metadata"].get("ownerReferences") or ()
    return {str(reference.get("uid")) for reference in references}
