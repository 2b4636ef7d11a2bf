"""Reads the objects that an operator watches: once from a cluster, or from a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from applier.cache import Query, read_once
from applier.cache.snapshot import Unread
from applier.errors import ClusterError, Forbidden
from applier.ref import EVENT, Kind, Manifest, Ref, uid_of
from grove_cli.queries.tree_query import not_served
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.step import StepContext
from grove_operator.controller.live_objects import CLUSTER_WIDE, COMPUTE_DOMAIN, WATCHED
from grove_operator.controller.operator import watched
from kube_objects.manifest import group_of

if TYPE_CHECKING:
    from applier.cluster import Cluster


NEVER_ASKED = frozenset({"Secret", "ServiceAccount", "Role", "RoleBinding"})
"""Kinds that are made for each set, and of which no rule asks what there is."""


def decisive(unread: Iterable[str]) -> list[str]:
    """Returns what of that which may not be read rules ask for."""
    return [kind for kind in unread if kind not in NEVER_ASKED]


class ReadObjects(NamedTuple):
    """Objects, the kinds that the server does not serve, and all kinds that were listed. `unread` is what may not be read, in words."""

    objects: list[Manifest]
    unserved: set[Kind]
    kinds: set[Kind]
    unread: Sequence[str] = ()


async def in_cluster(cluster: Cluster, context: StepContext, namespace: str, *, partial: bool = False) -> ReadObjects:
    """Returns the objects that an operator watches, and events; of all namespaces without a `namespace`.

    With `partial` some kinds may be forbidden, but for PodCliqueSets. Raises `ClusterError`; `NoSuchObject` if the server does not serve
    PodCliqueSets, because nothing can be said of them then.
    """
    watches = [*watched(namespace, context.settings), Query(EVENT, namespace)]
    objects, unserved, unread = list[Manifest](), set[Kind](), dict[str, ClusterError]()
    for labels in {watch.labels for watch in watches}:
        queries = [*dict.fromkeys(watch for watch in watches if watch.labels == labels)]
        try:
            read = await read_once(cluster, queries, labels=labels, partial=partial)
        except ClusterError as error:
            errors = error.errors if isinstance(error, Unread) else [error]
            if not partial or len(errors) < len(queries):
                raise
            unread |= {query.kind.kind: each for query, each in zip(queries, errors, strict=True)}  # none of them was read
            continue
        objects += read.objects.values()
        unserved |= read.unserved
        unread |= {kind: error for (_, kind, _), error in read.unread.items()}
    if wrong := unread.get(SET_KIND) or next((each for each in unread.values() if not isinstance(each, Forbidden)), None):
        raise wrong
    if any(kind.kind == SET_KIND for kind in unserved):
        raise not_served(SET_KIND)
    return ReadObjects(objects, unserved, {watch.kind for watch in watches}, decisive(unread))


def in_file(path: str) -> ReadObjects:
    """Returns the objects of a file, as a cluster would have them. Raises `Reported` after printing findings about it."""
    from grove_cli import findings
    from grove_cli.reading.inputs import InputReader

    reader = InputReader()
    recorded = reader.snapshot(path)
    findings.report(reader.problems, reader.find_file)
    objects = _as_stored(recorded)
    unserved = set() if any(_is_of_driver(manifest) for manifest in objects) else {COMPUTE_DOMAIN}
    return ReadObjects(objects, unserved, set())


def _as_stored(objects: Iterable[Manifest]) -> list[Manifest]:
    """Returns objects as a cluster would have them, since the operator looks for them so: in namespaces, and with UIDs, also as owners.

    What a compilation prints has neither.
    """
    namespace, placed = Settings().namespace, dict[Ref, Manifest]()
    namespaced = {(watch.kind.group, watch.kind.kind) for watch in WATCHED if watch.kind.kind not in CLUSTER_WIDE}
    for manifest in objects:
        ref, metadata = Ref.of(manifest), manifest["metadata"]
        if not ref.namespace and ref[:2] in namespaced:
            ref = ref._replace(namespace=namespace)
            metadata = {**metadata, "namespace": namespace}
        placed[ref] = {**manifest, "metadata": {**metadata, "uid": metadata.get("uid") or str(ref)}}
    return [_with_owners(ref, manifest, placed) for ref, manifest in placed.items()]


def _with_owners(ref: Ref, manifest: Manifest, others: Mapping[Ref, Manifest]) -> Manifest:
    """Returns an object whose owners have the UIDs of the objects that they name."""
    owners = manifest["metadata"].get("ownerReferences")
    if not owners:
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": [_with_uid(one, ref.namespace, others) for one in owners]}}


def _with_uid(owner: Manifest, namespace: str, others: Mapping[Ref, Manifest]) -> Manifest:
    named = others.get(Ref(group_of(owner.get("apiVersion") or ""), owner.get("kind") or "", namespace, owner.get("name") or ""))
    return owner if owner.get("uid") or named is None else {**owner, "uid": uid_of(named)}


def _is_of_driver(manifest: Manifest) -> bool:
    return manifest["metadata"]["name"] == "computedomains.resource.nvidia.com" or Kind.of(manifest) == COMPUTE_DOMAIN
