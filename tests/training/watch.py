"""What must never happen to a training job: looked for after each write of an operator."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from applier.ref import Manifest
from grove_compiler.kube.duration import SECOND, parse
from grove_compiler.kube.timestamp import time
from grove_compiler.model.inputs.snapshot import is_finished
from tests.simulation.labels import CLIQUE_LABEL, INDEX_LABEL, label
from tests.simulation.simulation import Simulation
from tests.simulation.world import SET, Moment

ATTEMPT = "grove.io/attempt"
REPLICA = "grove.io/podcliqueset-replica-index"
ENDS = ("Succeeded", "Failed")


@dataclass(eq=False)
class Watch:
    """Looks after each write whether it was right. `version` is up to where it has looked."""

    simulation: Simulation
    version: int = field(init=False)
    end: tuple[str, str] | None = None
    finished: set[tuple[str, str, str]] = field(default_factory=set)
    """The ranks that have exited with 0, and the attempt in which they did."""
    restarts: int = 0
    ended: dict[tuple[int, int], bool] = field(default_factory=dict)
    """The attempts that were told to have ended, by replica and number, and whether what followed was to be counted."""

    def __post_init__(self) -> None:
        self.version = self.simulation.world.version

    def look(self, _: str = "") -> None:
        """Raises `AssertionError` where something has happened that must not."""
        world = self.simulation.world
        changes = [(ref, old, new) for ref, old, new in world.changes_since(self.version)]
        self.version = world.version
        for ref, old, new in reversed(changes):
            if ref.kind == "PodCliqueSet" and new is not None:
                self._status(new.get("status", {}))
            elif ref.kind == "Pod" and new is not None:
                self._pod(old, new)
        self._no_rank_twice()

    def _status(self, status: Manifest) -> None:
        limits = self.simulation.world.get(SET, "demo")["spec"].get("trainingSpec") or {}
        count = status.get("restartCount") or 0
        assert self.restarts <= count <= (limits.get("maxRestarts") or 0), f"{count} restarts after {self.restarts}"
        self.restarts = count
        self.ended |= {(one["replica"], one["attempt"]): one.get("counted", False) for one in status.get("attempts", [])}
        over = [(one["index"], number) for one in status.get("trainingReplicas", []) for number in range(1, one["attempt"])]
        assert count == sum(self.ended.get(one, False) for one in over), f"{count} restarts are counted after {over}"
        phase = status.get("phase") or ""
        failed = next((one["reason"] for one in status.get("conditions", []) if one["type"] == "Failed"), "")
        if self.end is not None:
            assert (phase, failed) == self.end, f"{self.end} became {phase}"
        elif phase in ENDS:
            self.end = phase, failed

    def _pod(self, old: Manifest | None, new: Manifest) -> None:
        rank = label(new, CLIQUE_LABEL), label(new, INDEX_LABEL), label(new, ATTEMPT)
        if old is None:
            assert rank not in self.finished, f"{rank} had finished and is made again"
            self._is_in_time()
            self._has_waited(new)
        is_free = old is not None and old["spec"].get("schedulingGates") and not new["spec"].get("schedulingGates")
        if is_free:
            self._is_in_time()
        report = self.simulation.world.get(SET, "demo").get("status", {})
        if new.get("status", {}).get("phase") == "Succeeded" and not new["metadata"].get("deletionTimestamp") and report.get("startTime"):
            self.finished.add(rank)

    def _is_in_time(self) -> None:
        """Nothing is made, or let go, after the deadline. Whoever began in time, on a slow way, is given a second."""
        set = self.simulation.world.get(SET, "demo")
        limit, begun = (set["spec"].get("trainingSpec") or {}).get("maxRuntime"), time(set.get("status", {}).get("startTime") or None)
        stood = set.get("status", {}).get("suspendedSeconds") or 0
        if limit and begun is not None and self.simulation.network.is_calm:
            assert self.simulation.world.now <= begun + stood + parse(limit) / SECOND + 1, "a pod is made after the deadline"

    def _has_waited(self, pod: Manifest) -> None:
        """No pod is made while its replica waits before its next attempt. Whoever began on a slow way had seen an older status."""
        status = self.simulation.world.get(SET, "demo").get("status", {})
        entries = [one for one in status.get("trainingReplicas", []) if str(one["index"]) == label(pod, REPLICA)]
        for entry in entries:
            until = time(entry.get("backoffUntil") or None)
            assert until is None or self.simulation.world.now >= until, "a pod is made before the wait is over"

    def _no_rank_twice(self) -> None:
        pods = self.simulation.world.pods()
        newest = max((int(label(pod, ATTEMPT)) for pod in pods), default=0)
        # What has finished and was kept, for its logs, holds no rank any more.
        counted = [pod for pod in pods if int(label(pod, ATTEMPT)) == newest or not is_finished(pod)]
        ranks = Counter((label(pod, CLIQUE_LABEL), label(pod, INDEX_LABEL)) for pod in counted)
        assert not (twice := [rank for rank, count in ranks.items() if count > 1]), f"two pods have one rank: {twice}"


def watched_job(simulation: Simulation) -> Simulation:
    """From now on each write of an operator is looked at."""
    watch = Watch(simulation)
    for one in simulation.operators:
        one.after_write = watch.look
    return simulation


def moments_of(simulation: Simulation) -> list[Moment]:
    """The world after each write of the operator from now on, as it would be found by an operator that starts then."""
    moments: list[Moment] = []
    check = simulation.operator.after_write

    def remember(reason: str) -> None:
        check(reason)
        moments.append(simulation.world.moment())

    simulation.operator.after_write = remember
    return moments
