"""Deletes objects of a cluster in memory, with finalizers, grace periods, owners and namespaces."""

from __future__ import annotations

from datetime import datetime, timedelta

from applier.ref import Manifest, Ref, uid_of
from applier.testing.memory.store import Store, copied

WAITS = "foregroundDeletion"


GRACE_SECONDS = 30


class Garbage:
    """Deletes objects as the API server and the garbage collector do; the latter at once if it `collects`, else on `collect`.

    A Pod on a node stays until the node has stopped it (`end`).
    """

    def __init__(self, store: Store, *, collects: bool = True) -> None:
        self.store, self.collects = store, collects

    def delete(self, ref: Ref, propagation: str, now: str) -> None:
        """Deletes an object: marks one with finalizers or a grace period as terminating, and removes any other with its dependants."""
        live = self.store.objects[ref]
        if propagation == "Orphan":
            self._orphan(uid_of(live))
        finalizers = list(live["metadata"].get("finalizers") or ())
        if propagation == "Foreground" and self._blocking(uid_of(live)):
            finalizers.append(WAITS)
        if ref[:2] == ("", "Namespace"):
            finalizers += ["kubernetes"] if self._inside(ref.name) else []
        grace = _grace_of(live)
        if finalizers or grace:
            self._mark(live, finalizers, now, grace)
            self._begin_below(ref, uid_of(live), propagation, now)
        else:
            self.remove(ref, now)

    def remove(self, ref: Ref, now: str) -> None:
        """Removes an object; then its orphaned dependants, and owners and namespaces whose deletion waited for it."""
        removed = self.store.objects[ref]
        self.store.remove(ref)
        if self.collects:
            self.collect(now, owned_by=uid_of(removed))
        for entry in removed["metadata"].get("ownerReferences") or ():
            self._release(self.store.by_uid(entry["uid"]), WAITS, now)
        if ref.namespace and not self._inside(ref.namespace):
            self._release(self.store.objects.get(Ref("", "Namespace", "", ref.namespace)), "kubernetes", now)

    def collect(self, now: str, *, owned_by: str = "") -> list[Ref]:
        """Deletes every object whose owners are all gone; with `owned_by`, only those of one owner. Returns the deleted objects."""
        existing = {uid_of(manifest) for manifest in self.store.objects.values()}
        orphans = [
            ref
            for ref, manifest in self.store.objects.items()
            if (owners := _owners(manifest)) and not owners & existing and (not owned_by or owned_by in owners)
        ]
        for ref in orphans:
            if ref in self.store.objects and "deletionTimestamp" not in self.store.objects[ref]["metadata"]:
                self.delete(ref, "Background", now)
        return orphans

    def finish(self, ref: Ref, now: str) -> None:
        """Removes a terminating object without finalizers and grace period."""
        metadata = self.store.objects[ref]["metadata"]
        if "deletionTimestamp" in metadata and not metadata.get("finalizers") and not metadata.get("deletionGracePeriodSeconds"):
            self.remove(ref, now)

    def end(self, ref: Ref, now: str) -> None:
        """Ends a terminating Pod, as its node does once it has stopped it."""
        stopped = copied(self.store.objects[ref])
        stopped["metadata"]["deletionGracePeriodSeconds"] = 0
        if stopped["metadata"].get("finalizers"):
            if stopped != self.store.objects[ref]:
                self.store.put(stopped)
        else:
            self.remove(ref, now)

    def _mark(self, live: Manifest, finalizers: list[str], now: str, grace: int) -> None:
        marked = copied(live)
        metadata = marked["metadata"]
        if finalizers:
            metadata["finalizers"] = list(dict.fromkeys(finalizers))
        if "deletionTimestamp" not in metadata:
            metadata.update(deletionTimestamp=_later(now, grace), deletionGracePeriodSeconds=grace)
            if "generation" in metadata:
                metadata["generation"] += 1  # a deletion changes the desired state
        if marked["kind"] == "Namespace":
            marked["status"] = {"phase": "Terminating"}
        if marked != live:
            self.store.put(marked)

    def _begin_below(self, ref: Ref, uid: str, propagation: str, now: str) -> None:
        below = self._inside(ref.name) if ref[:2] == ("", "Namespace") else []
        below += self._blocking(uid) if propagation == "Foreground" else []
        for other in below:
            if other in self.store.objects:
                self.delete(other, "Background" if ref.kind == "Namespace" else "Foreground", now)

    def _release(self, manifest: Manifest | None, finalizer: str, now: str) -> None:
        """Removes a finalizer from an object that waited for its dependants, once none of them is left."""
        finalizers = (manifest or {}).get("metadata", {}).get("finalizers") or []
        if manifest is None or finalizer not in finalizers or (finalizer == WAITS and self._blocking(uid_of(manifest))):
            return
        released = copied(manifest)
        released["metadata"]["finalizers"] = [one for one in finalizers if one != finalizer]
        self.store.put(released)
        self.finish(Ref.of(released), now)

    def _blocking(self, uid: str) -> list[Ref]:
        return [
            ref
            for ref, manifest in self.store.objects.items()
            for entry in manifest["metadata"].get("ownerReferences") or ()
            if entry["uid"] == uid and entry.get("blockOwnerDeletion")
        ]

    def _inside(self, namespace: str) -> list[Ref]:
        return [ref for ref in self.store.objects if ref.namespace == namespace]

    def _orphan(self, uid: str) -> None:
        for manifest in list(self.store.objects.values()):
            if uid in _owners(manifest):
                freed = copied(manifest)
                freed["metadata"]["ownerReferences"] = [
                    reference for reference in freed["metadata"]["ownerReferences"] if reference["uid"] != uid
                ]
                self.store.put(freed)


def _later(now: str, seconds: int) -> str:
    """Returns when a grace period is over: an API server writes that as the time of the deletion, and not when it was requested."""
    return (datetime.fromisoformat(now) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _grace_of(live: Manifest) -> int:
    """Returns the grace period of a Pod in seconds; 0 for other kinds, unscheduled Pods, and Pods that have ended."""
    if live["kind"] != "Pod" or not (live.get("spec") or {}).get("nodeName"):
        return 0
    if (live.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    seconds = live["spec"].get("terminationGracePeriodSeconds")
    return GRACE_SECONDS if seconds is None else max(int(seconds), 1)


def _owners(manifest: Manifest) -> set[str]:
    return {entry["uid"] for entry in manifest["metadata"].get("ownerReferences") or ()}
