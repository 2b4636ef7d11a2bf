"""Lets a PodClique or scaling group that reports less than before wait for a moment: most pods that go have a successor by then."""

from __future__ import annotations

from collections.abc import Iterable

from applier.desired import StatusWrite
from applier.ref import Manifest
from grove_compiler.model.inputs.snapshot import Objects

MOMENT = 1.0
"""Seconds. A pod that somebody deletes is replaced and ready in less, where its image is there. To report every step of that took five
writes, of its PodClique and of its set, beside the three that replace it."""
COUNTS = {"PodClique": "readyReplicas", "PodCliqueScalingGroup": "availableReplicas"}
"""What is less for a moment when a pod goes, by the kind that counts it. The group of a pod takes two more writes than its clique alone."""
ENDINGS = ("attempt", "succeededIndexes", "lostSince", "failure")
"""What a PodClique of a training workload says of pods that have ended: nobody replaces those, and the set waits for the news."""
MOST_OVERDUE = 60.0
"""Seconds after which news that nobody has asked about again is forgotten: its object is gone."""


class BadNews:
    """Remembers since when objects have had less to report than their statuses say. A process that starts anew waits once more."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}  # by UID, the oldest first

    def sift(self, writes: Iterable[StatusWrite], objects: Objects, now: float) -> tuple[list[StatusWrite], list[float]]:
        """Returns the statuses that are to be written now, and for each that waits in how many seconds it has waited long enough."""
        due, waits = list[StatusWrite](), list[float]()
        for write in writes:
            left = self._wait(write, objects, now)
            if left > 0:
                waits.append(left)
            else:
                due.append(write)
        return due, waits

    def _wait(self, write: StatusWrite, objects: Objects, now: float) -> float:
        ref, uid = write.of.ref, write.of.uid
        live = objects.get(ref.group, ref.kind, ref.namespace, ref.name)
        if live is None or not _is_bad_news(write, live):
            self._since.pop(uid, None)
            return 0.0
        self._forget(now)
        return self._since.setdefault(uid, now) + MOMENT - now

    def _forget(self, now: float) -> None:
        while self._since and self._since[first := next(iter(self._since))] < now - MOST_OVERDUE:
            del self._since[first]


def _is_bad_news(write: StatusWrite, live: Manifest) -> bool:
    """Whether pods that were ready are so no more, although nobody wants fewer, and no update replaces them: that waits for its pods."""
    new, old, count = write.status, live.get("status") or {}, COUNTS.get(live["kind"])
    return (
        count is not None
        and new.get(count, 0) < old.get(count, 0)
        and new.get("observedGeneration") == old.get("observedGeneration")
        and all(new.get(field) == old.get(field) for field in ENDINGS)
        and not any(_is_under_way(status.get("updateProgress")) for status in (new, old))
    )


def _is_under_way(progress: Manifest | None) -> bool:
    return bool(progress) and not (progress or {}).get("updateEndedAt")
