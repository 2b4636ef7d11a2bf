"""Waits until objects are ready, by watch, and says of those that are not what is missing and why."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from applier.cluster import Cluster
from applier.errors import ClusterError, UnknownKind
from applier.events import Ready, Sink, Waiting, nowhere
from applier.readiness import UNREPORTED, Readiness, Rule, State, readiness
from applier.ref import Kind, Manifest, Ref
from applier.wait.follow import follow

NOT_SEEN = Readiness(State.UNKNOWN, "not seen in time")
SILENCE = 5.0
"""Seconds in which a controller would have said something of a new object of its kind. After that it is taken for one that nobody reports
on: many kinds have a status subresource and no controller that writes it, and kstatus does not wait for such at all."""
SILENT = Readiness(State.READY, f"nobody has reported anything of it within {SILENCE:g} s, so that it counts as it is")
NOT_THERE = Readiness(State.IN_PROGRESS, "is not there")


class Waited(NamedTuple):
    """What became of an object that was waited for, `seconds` after the wait began."""

    ref: Ref
    readiness: Readiness
    seconds: float

    @property
    def reason(self) -> str:
        """What people read: nothing when it is ready, what is missing otherwise."""
        return "" if self.readiness.is_ready else f"not ready after {self.seconds:.0f} s: {self.readiness.reason}"


async def wait_ready(
    manifests: Iterable[Manifest], cluster: Cluster, *, seconds: float, rules: Iterable[Rule] = (), labels: str = "", sink: Sink = nowhere
) -> list[Waited]:
    """Waits until each of these objects is ready, or one has failed for good; what became of each, in their order.

    `labels` is a selector that they match, so that less is watched; one that does not match is found all the same. Raises `ClusterError`
    when the server refuses to be watched.
    """
    wanted = {Ref.of(manifest): manifest for manifest in manifests}
    wait = _Wait(list(rules), await _kinds_with_status(wanted.values(), cluster), sink, dict.fromkeys(wanted, NOT_SEEN))
    if wanted:
        try:
            await follow(wanted.values(), cluster, wait.seen, wait.done, seconds=seconds, labels=labels, may_differ=True)
        finally:
            wait.end()
    await wait.ask_pods(cluster)
    now = asyncio.get_running_loop().time() - wait.began
    return [Waited(ref, known, wait.took.get(ref, now)) for ref, known in wait.known.items()]


class _Wait:
    """What is known of each object. `took` has the seconds of those that nothing is waited for any more."""

    def __init__(self, rules: list[Rule], with_status: set[Kind], sink: Sink, known: dict[Ref, Readiness]) -> None:
        self.rules, self.with_status, self.sink, self.known = rules, with_status, sink, known
        self.live: dict[Ref, Manifest] = {}
        self.silent: dict[Ref, asyncio.TimerHandle] = {}
        self.took: dict[Ref, float] = {}
        self.done = asyncio.Event()
        self.began = asyncio.get_running_loop().time()

    def seen(self, ref: Ref, live: Manifest | None) -> None:
        before, now = self.known[ref], self._judge(ref, live)
        self.known[ref] = now
        if live is not None:
            self.live[ref] = live
        if now.is_ready or now.final:
            self.took.setdefault(ref, asyncio.get_running_loop().time() - self.began)
        else:
            self.took.pop(ref, None)
        if now.is_ready and not before.is_ready:
            self.sink(Ready(ref, self.took[ref], now.reason if now is SILENT else ""))
        elif not now.is_ready and now.reason != before.reason:
            self.sink(Waiting(ref, now.reason))
        # One that has failed for good ends it all: whatever becomes of the others, it will not be what was waited for.
        if now.final or len(self.took) == len(self.known):
            self.done.set()

    def _judge(self, ref: Ref, live: Manifest | None) -> Readiness:
        if live is None:
            return NOT_THERE
        now = readiness(live, self.rules, has_status=Kind.of(live) in self.with_status)
        if now is not UNREPORTED:
            return now
        if ref not in self.silent:
            self.silent[ref] = asyncio.get_running_loop().call_later(SILENCE, lambda: self.seen(ref, self.live[ref]))
        elif self.silent[ref].when() <= asyncio.get_running_loop().time():
            return SILENT
        return now

    def end(self) -> None:
        """Looks at nothing any more."""
        for timer in self.silent.values():
            timer.cancel()

    async def ask_pods(self, cluster: Cluster) -> None:
        """Adds to what is not ready what its pods say: its own status only counts them."""
        stuck = [ref for ref, known in self.known.items() if not known.is_ready and ref in self.live]
        for ref, why in zip(stuck, await asyncio.gather(*(what_pods_say(self.live[ref], cluster) for ref in stuck)), strict=True):
            if why:
                known = self.known[ref]
                self.known[ref] = known._replace(reason=f"{known.reason}; {why}")


async def _kinds_with_status(manifests: Iterable[Manifest], cluster: Cluster) -> set[Kind]:
    kinds = set()
    for kind in {Kind.of(manifest) for manifest in manifests}:
        try:
            if "status" in (await cluster.resource(kind)).subresources:
                kinds.add(kind)
        except UnknownKind:  # it is reported by whoever watches
            continue
    return kinds


WORKLOADS = frozenset({("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("batch", "Job")})
MOST = 2  # reasons that are told


async def what_pods_say(workload: Manifest, cluster: Cluster) -> str:
    """Returns the most frequent reasons of pods that are not ready, `2 pods: container main: ImagePullBackOff`.

    Empty when there is nothing to say. One request. What cannot be read is not said: it only explains, and decides nothing.
    """
    ref = Ref.of(workload)
    labels = ((workload.get("spec") or {}).get("selector") or {}).get("matchLabels") if ref[:2] in WORKLOADS else None
    if not labels:
        return ""
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    try:
        pods = (await cluster.list(await cluster.resource(Kind("", "v1", "Pod")), ref.namespace, labels=selector)).items
    except ClusterError:
        return ""
    reasons = Counter(judged.reason for judged in map(readiness, pods) if not judged.is_ready)
    return "; ".join(f"{count} {'pod' if count == 1 else 'pods'}: {reason}" for reason, count in reasons.most_common(MOST))
