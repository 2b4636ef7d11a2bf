"""Waits until objects are ready, by watch, and reports for the others what is missing and why."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from applier.cluster import Cluster
from applier.errors import ClusterError, UnknownKind
from applier.events import Ready, Sink, Waiting, nowhere
from applier.readiness import UNREPORTED, Readiness, ReadinessRule, State, readiness
from applier.ref import POD, Kind, Manifest, Ref
from applier.wait.follow import follow
from kube_objects.words import counted

NOT_SEEN = Readiness(State.UNKNOWN, "not observed in time")
SILENCE = 5.0
"""Seconds within which a controller would have written the status of a new object. After that the object counts as one without a
controller: many kinds have a status subresource that nothing writes, and kstatus does not wait for those at all."""
SILENT = Readiness(State.READY, f"no status was reported within {SILENCE:g} s, so it is judged as it is")
NOT_THERE = Readiness(State.IN_PROGRESS, "is not there")


class Waited(NamedTuple):
    """Represents the result of waiting for an object, `seconds` after the wait began."""

    ref: Ref
    readiness: Readiness
    seconds: float

    @property
    def reason(self) -> str:
        """The message for people: empty when it is ready, what is missing otherwise."""
        return "" if self.readiness.is_ready else f"not ready after {self.seconds:.0f} s: {self.readiness.reason}"


async def wait_ready(
    manifests: Iterable[Manifest],
    cluster: Cluster,
    *,
    seconds: float,
    rules: Iterable[ReadinessRule] = (),
    labels: str = "",
    sink: Sink = nowhere,
) -> list[Waited]:
    """Waits until all of these objects are ready, or one has failed for good; returns the result of each, in their order.

    `labels` is a selector that they match, to watch less; one that does not match is found all the same. Raises `ClusterError` when the
    server denies the watch.
    """
    by_ref = {Ref.of(manifest): manifest for manifest in manifests}
    wait = _Wait(list(rules), await _kinds_with_status(by_ref.values(), cluster), sink, dict.fromkeys(by_ref, NOT_SEEN))
    if by_ref:
        try:
            await follow(by_ref.values(), cluster, wait.seen, wait.done, seconds=seconds, labels=labels, may_differ=True)
        finally:
            wait.end()
    await wait.ask_pods(cluster)
    now = asyncio.get_running_loop().time() - wait.began
    return [Waited(ref, known, wait.took.get(ref, now)) for ref, known in wait.known.items()]


class _Wait:
    """Tracks the readiness of each object. `took` has the seconds of those that are ready or have failed for good."""

    def __init__(self, rules: list[ReadinessRule], with_status: set[Kind], sink: Sink, known: dict[Ref, Readiness]) -> None:
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
        # One object that has failed for good ends the wait: all of them can no longer become ready.
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
        """Cancels all timers."""
        for timer in self.silent.values():
            timer.cancel()

    async def ask_pods(self, cluster: Cluster) -> None:
        """Adds the reasons of pods to the workloads that are not ready, whose own status only counts them."""
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
MAX_REASONS = 2  # reasons that are told


async def what_pods_say(workload: Manifest, cluster: Cluster) -> str:
    """Returns the most frequent reasons of pods that are not ready, `2 pods: container main: ImagePullBackOff`.

    Empty when there is none. Makes one request; its errors are ignored, because this only explains and decides nothing.
    """
    ref = Ref.of(workload)
    labels = ((workload.get("spec") or {}).get("selector") or {}).get("matchLabels") if ref[:2] in WORKLOADS else None
    if not labels:
        return ""
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    try:
        pods = (await cluster.list(await cluster.resource(POD), ref.namespace, labels=selector)).items
    except ClusterError:
        return ""
    reasons = Counter(judged.reason for judged in map(readiness, pods) if not judged.is_ready)
    return "; ".join(f"{counted(count, 'pod')}: {reason}" for reason, count in reasons.most_common(MAX_REASONS))
