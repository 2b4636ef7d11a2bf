"""Orders deletions: Services first, then the reverse of the order in which objects would be written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from applier.desired import AwaitedGroup, Cycle, Desired, Graph
from applier.plan.order import order
from applier.ref import DEFINITION, NAMESPACE, Kind, Manifest, Ref

SERVICE = ("", "Service")


class Teardown(NamedTuple):
    """Holds waves of objects, those without dependants first; and for each object its `users`, which have to be gone before it."""

    waves: list[list[Ref]]
    users: dict[Ref, list[Ref]]


def teardown(live: Iterable[Manifest], graph: Graph | None = None) -> Teardown:
    """Orders live objects by their owner references, by implicit dependencies of Kubernetes, and by the graph they come from."""
    objects = list(live)
    try:
        found = order(Graph([Desired(manifest, after=[*owners_of(manifest), *_dependencies_in(manifest, graph)]) for manifest in objects]))
    except Cycle:  # the graph's edges contradict the live owners, which take precedence
        found = order(Graph([Desired(manifest, after=owners_of(manifest)) for manifest in objects]))
    users: dict[Ref, list[Ref]] = {}
    # There are no groups above: each object waits until its own users are gone.
    alone = ((user, ref) for user, before in found.hard_dependencies.items() for ref in before if not isinstance(ref, AwaitedGroup))
    for user, ref in (*alone, *((user, ref) for user, before in found.soft_dependencies.items() for ref in before)):
        users.setdefault(ref, []).append(user)
    return Teardown(_services_first(found.waves[::-1], users), users)


def _services_first(waves: list[list[Ref]], users: dict[Ref, list[Ref]]) -> list[list[Ref]]:
    """Moves Services without dependants to the front, as Helm does.

    So no traffic goes to a pod that is about to stop, and endpoints are not rewritten for each of a thousand pods that are deleted.
    """
    services = dict.fromkeys(ref for wave in waves for ref in wave if ref[:2] == SERVICE and not users.get(ref))
    if not services:
        return waves
    first, *later = [[ref for ref in wave if ref not in services] for wave in waves]
    return [[*services, *first], *(wave for wave in later if wave)]


def last(order: Teardown, ref: Ref) -> Teardown:
    """Returns the order with this object last, to be deleted only when all others are gone.

    It is the namespace of the record, without which the others could not be found.
    """
    others = [[one for one in wave if one != ref] for wave in order.waves]
    return Teardown([*(wave for wave in others if wave), [ref]], {**order.users, ref: [one for wave in others for one in wave]})


def owners_of(manifest: Manifest) -> list[Ref]:
    """Returns the possible owners of a live object. A reference does not tell whether its owner is namespaced, so both are returned."""
    metadata = manifest.get("metadata") or {}
    namespaces = dict.fromkeys((metadata.get("namespace") or "", ""))
    return [
        Ref(Kind.read(owner["apiVersion"], owner["kind"]).group, owner["kind"], namespace, owner["name"])
        for owner in metadata.get("ownerReferences") or ()
        for namespace in namespaces
    ]


def _dependencies_in(manifest: Manifest, graph: Graph | None) -> list[Ref]:
    desired = graph.objects.get(Ref.of(manifest)) if graph else None
    return graph.before(desired) if graph and desired else []


def still_needed(manifest: Manifest, desired: Iterable[Ref]) -> list[Ref]:
    """Returns the desired objects that deleting this one would delete too: those in a namespace, or of a definition's kind."""
    ref = Ref.of(manifest)
    if ref[:2] == NAMESPACE:
        return [other for other in desired if other.namespace == ref.name]
    if ref[:2] == DEFINITION:
        spec = manifest.get("spec") or {}
        defined = (spec.get("group", ""), (spec.get("names") or {}).get("kind", ""))
        return [other for other in desired if other[:2] == defined]
    return []
