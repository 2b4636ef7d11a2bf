"""The names of the sets that objects are held for: a label has only an id, which is a hash, and people know the record by its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from applier.cluster import Cluster
from applier.errors import ClusterError
from applier.outcome import Action, Step
from applier.plan import Plan
from applier.plan.membership import LABEL, set_of
from applier.ref import Ref


async def name_sets(plan: Plan, cluster: Cluster) -> None:
    """Puts the name of the record where a reason has the id of another set. No request when nothing is held for one.

    Records are looked for among Secrets and ConfigMaps of the members' own namespaces, where nearly all are. What may not be read or is
    not there leaves the id.
    """
    held: dict[tuple[str, str], list[Step]] = {}
    for step in _held(plan.steps):
        if id := set_of(plan.found[step.ref]):
            held.setdefault((id, step.ref.namespace), []).append(step)
    for (id, namespace), steps in held.items():
        parent = await _record(id, namespace, cluster)
        for step in steps if parent else ():
            step.reason = step.reason.replace(id, str(parent))


def _held(steps: Iterable[Step]) -> Iterator[Step]:
    return (step for step in steps if step.action is Action.HELD and any(conflict.path == LABEL for conflict in step.conflicts))


async def _record(id: str, namespace: str, cluster: Cluster) -> Ref | None:
    from applier.prune.applyset import applyset_id  # only for sets
    from applier.prune.record import BUILT_IN_PARENTS, ID

    for kind in sorted(BUILT_IN_PARENTS):
        with suppress(ClusterError):
            found = (await cluster.list(await cluster.resource(kind), namespace, labels=f"{ID}={id}")).items if namespace else []
            for ref in map(Ref.of, found):
                if applyset_id(ref) == id:
                    return ref
    return None
