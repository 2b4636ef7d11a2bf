"""Finds the names of pods that went while no operator ran, from what is stored: no pod has the name of the one that it replaces."""

from __future__ import annotations

from collections.abc import Iterator

from applier.cache import WatchCache
from applier.errors import NotSynced
from applier.ref import Manifest, Ref
from grove_compiler.labels import CLIQUE_LABEL
from kube_objects.manifest import maps, namespaced_name, section

GANG, CLIQUE, POD = ("scheduler.grove.io", "PodGang"), ("grove.io", "PodClique"), ("", "Pod")


def recall_former_pods(cache: WatchCache) -> None:
    """Has a cache that has just read its lists count these pods as deleted. Without the lists of their kinds it does nothing."""
    try:
        former = [pod for gang in cache.by_label(*GANG) for pod in _former_pods(cache, gang)]
    except NotSynced:
        return
    for pod in former:
        cache.recall(pod)


def _former_pods(cache: WatchCache, gang: Manifest) -> Iterator[Manifest]:
    """Yields the pods that a gang refers to and that do not exist, of each PodClique that reports more pods than there are.

    Where it reports no more, they are still to be created.
    """
    namespace, _ = namespaced_name(gang)
    for group in maps(section(gang, "spec").get("podgroups")):
        clique = str(group.get("name") or "")
        names = [str(one.get("name") or "") for one in maps(group.get("podReferences"))]
        gone = [name for name in names if cache.get(Ref(*POD, namespace, name)) is None]
        member = cache.get(Ref(*CLIQUE, namespace, clique)) if gone else None
        if member is None:
            continue  # nothing is counted for a group whose name anybody has made up
        reported = section(member, "status").get("replicas")
        if isinstance(reported, int) and reported > len(cache.by_label(*POD, f"{CLIQUE_LABEL}={clique}", namespace)):
            for name in gone:
                yield {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": name, "namespace": namespace, "labels": {CLIQUE_LABEL: clique}},
                }
