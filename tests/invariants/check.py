"""Checks an audit log: no operator has deleted a ready pod without a reason (decisions §9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from applier.ref import Manifest, is_being_deleted
from grove_operator.controller.operator import DELETION_REASON
from tests.invariants.log import DELETE, Write, read
from tests.invariants.reasons import NO_LONGER_WANTED, Reasons
from tests.invariants.replayed import Namespace
from tests.simulation.world import CLIQUE, GROUP, POD

AGENT = "grove"
"""How the user agents of operators begin."""
LAG = 3.0
"""Seconds within which an operator on a busy machine hears of what others have done, and its requests arrive."""
PARTS = (CLIQUE.kind, GROUP.kind)


@dataclass(slots=True)
class Verdict:
    """What a log shows: how many deletions of ready pods were judged, by reason, and what is wrong with which of them."""

    judged: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told = ", ".join(f"{count} for {reason}" for reason, count in sorted(self.judged.items()))
        return f"{self.judged.total()} ready pods were deleted by operators ({told or 'none'}), {len(self.faults)} without a reason"


class Replay:
    """Replays the writes of a namespace, and judges each deletion by an operator."""

    def __init__(self, verdict: Verdict, agent: str, lag: float) -> None:
        self.verdict, self.agent = verdict, agent
        self.state = Namespace(lag)
        self.reasons = Reasons(self.state, lag)

    def take(self, write: Write) -> None:
        is_ours = write.agent.startswith(self.agent)
        old = self._served(write) if is_ours and write.verb == DELETE else None
        if old is not None and write.kind == CLIQUE.kind:
            self._judge(write, old)
        self.state.apply(write, is_by_operator=is_ours)
        if old is not None and write.kind == POD.kind:
            self._judge(write, old)
        if write.kind in PARTS:
            self._look(write)

    def _served(self, write: Write) -> Manifest | None:
        """The pod that was ready, or the PodClique, that a request deletes; nothing where it was terminating before."""
        kind = next((kind for kind in (POD, CLIQUE) if kind.kind == write.kind), None)
        old = self.state.find(kind, write.name) if kind else None
        if old is None or is_being_deleted(old) or (kind == POD and not self.state.is_known_ready(old)):
            return None
        return old

    def _judge(self, write: Write, one: Manifest) -> None:
        reason = (one["metadata"].get("annotations") or {}).get(DELETION_REASON, NO_LONGER_WANTED)
        try:
            if write.kind == POD.kind:
                self.verdict.judged[reason] += 1
                self.reasons.check(one, reason)
            else:
                self.reasons.check_clique(one, reason)
        except AssertionError as fault:
            at = datetime.fromtimestamp(write.at, UTC).isoformat(timespec="milliseconds")
            self.verdict.faults.append(f"{at} {write.kind} {write.namespace}/{write.name}: {fault}")

    def _look(self, write: Write) -> None:
        kind = CLIQUE if write.kind == CLIQUE.kind else GROUP
        part = self.state.find(kind, write.name)
        if part is None:
            self.reasons.forget(write.name)
        else:
            self.reasons.look([part])


def check(log: Path, *, agent: str = AGENT, lag: float = LAG) -> Verdict:
    """Checks a whole log."""
    verdict, namespaces = Verdict(), dict[str, Replay]()
    for write in read(log):
        if write.namespace not in namespaces:
            namespaces[write.namespace] = Replay(verdict, agent, lag)
        namespaces[write.namespace].take(write)
    return verdict
