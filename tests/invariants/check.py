"""Checks an audit log: no operator has deleted a ready pod, or told the end of an update, without a reason (decisions §9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from applier.ref import Manifest
from grove_compiler.labels import DELETION_REASON
from kube_objects.manifest import is_terminating
from tests.invariants.alike import check_alike
from tests.invariants.endings import check_end, is_end
from tests.invariants.log import CREATE, DELETE, NAMESPACE, Write, read
from tests.invariants.reasons import NO_LONGER_WANTED, Reasons
from tests.invariants.replayed import Namespace
from tests.simulation.labels import GROUP_LABEL, MEMBER_LABEL, label
from tests.simulation.world import CLIQUE, GROUP, POD, SET, is_ready

AGENT = "grove"
"""How the user agents of operators begin."""
LAG = 2.0
"""Seconds within which an operator on a busy machine hears of what others have done, and its requests arrive."""
STATUS = "status"
KINDS = {kind.kind: kind for kind in (POD, SET, CLIQUE, GROUP)}
PARTS = (CLIQUE.kind, GROUP.kind)


@dataclass(slots=True)
class Verdict:
    """What a log shows: how many deletions of ready pods were judged, by reason, how many ends of updates, and what is wrong with them.

    `doubtful` are deletions that would be faults, had the pod been ready for long enough that the operator knew.
    """

    judged: Counter[str] = field(default_factory=Counter)
    ends: int = 0
    doubtful: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        reasons = ", ".join(f"{count} for {reason}" for reason, count in sorted(self.judged.items()))
        doubtful = f", {self.doubtful} just as they became ready" if self.doubtful else ""
        deleted = f"operators deleted {self.judged.total()} ready pods" + (f" ({reasons})" if reasons else "") + doubtful
        return f"{deleted} and told {self.ends} ends of updates: {len(self.faults)} without a reason"


class _Deletion(NamedTuple):
    """A deletion by an operator, with the object as it was. `is_known` is whether the operator can have known that it served."""

    write: Write
    old: Manifest
    is_known: bool

    @property
    def reason(self) -> str:
        """Why, as the object says in the answer: the write of the reason may have been carried out although its answer was lost."""
        last = self.write.answer if self.write.answer.get("kind") == self.old["kind"] else self.old
        reason: str = (last["metadata"].get("annotations") or {}).get(DELETION_REASON, NO_LONGER_WANTED)
        return reason


class Replay:
    """Replays the writes of a namespace, and judges each deletion by an operator."""

    def __init__(self, verdict: Verdict, agent: str, lag: float) -> None:
        self.verdict, self.agent = verdict, agent
        self.state = Namespace(lag)
        self.reasons = Reasons(self.state, lag)

    def take(self, write: Write) -> None:
        """Carries out a write, and judges it where an operator deletes a PodClique, or a pod that is ready."""
        is_ours, before = write.agent.startswith(self.agent), self._find(write)
        old = self._staying(write) if is_ours and write.verb == DELETE else None
        judged = None if old is None else _Deletion(write, old, is_known=all(self.state.is_known(one, write.at) for one in self._unit(old)))
        if judged and write.kind == CLIQUE.kind:
            self._judge(judged)
        self.state.apply(write, is_by_operator=is_ours)
        if judged and write.kind == POD.kind and is_ready(judged.old):
            self.verdict.judged[judged.reason] += 1
            self._judge(judged)
        if is_ours and before is None and write.kind == POD.kind:
            self._judge_made(write)
        if is_ours and write.subresource == STATUS:
            self._judge_end(write, before)
        if write.kind in PARTS:
            self._look(write)

    def _staying(self, write: Write) -> Manifest | None:
        """The pod or PodClique that a request deletes; nothing where it was terminating before, which a second request does not change."""
        old = self._find(write) if write.kind in (POD.kind, CLIQUE.kind) else None
        return None if old is None or is_terminating(old) else old

    def _find(self, write: Write) -> Manifest | None:
        return self.state.find(KINDS[write.kind], write.name)

    def _unit(self, old: Manifest) -> list[Manifest]:
        """Returns what an object serves with: the ready pods of its replica of a scaling group, or itself."""
        if old["kind"] != POD.kind or not label(old, GROUP_LABEL):
            return [old]
        place = label(old, GROUP_LABEL), label(old, MEMBER_LABEL)
        return [one for one in self.state.pods() if is_ready(one) and (label(one, GROUP_LABEL), label(one, MEMBER_LABEL)) == place]

    def _judge(self, deletion: _Deletion) -> None:
        write, judge = deletion.write, self.reasons.check if deletion.old["kind"] == POD.kind else self.reasons.check_clique
        try:
            judge(deletion.old, deletion.reason)
        except AssertionError as fault:
            if deletion.is_known:
                self.verdict.faults.append(_fault(write, fault))
            else:
                self.verdict.doubtful += 1

    def _judge_end(self, write: Write, before: Manifest | None) -> None:
        after = self._find(write)
        if before is not None and after is not None and is_end(before, after):
            self.verdict.ends += 1
            try:
                check_end(self.state, before, after)
            except AssertionError as fault:
                self.verdict.faults.append(_fault(write, fault))

    def _judge_made(self, write: Write) -> None:
        if self._find(write) is not None:
            try:
                check_alike(self.state)
            except AssertionError as fault:
                self.verdict.faults.append(_fault(write, fault))

    def _look(self, write: Write) -> None:
        part = self._find(write)
        if part is None:
            self.reasons.forget(write.name)
        else:
            self.reasons.look([part])


def _fault(write: Write, fault: AssertionError) -> str:
    at = datetime.fromtimestamp(write.at, UTC).isoformat(timespec="milliseconds")
    return f"{at} {write.kind} {write.namespace}/{write.name}: {fault}"


def check(log: Path, *, agent: str = AGENT, lag: float = LAG, only: str = "") -> Verdict:
    """Checks a whole log, or what it has of `only` one namespace. What is deleted once its namespace is terminating goes with that."""
    verdict, namespaces = Verdict(), dict[str, Replay]()
    terminating = set[str]()
    for write in read(log):
        if write.kind == NAMESPACE and write.verb == DELETE:
            terminating.add(write.name)
        elif write.kind == NAMESPACE and write.verb == CREATE:
            terminating.discard(write.name)
            namespaces.pop(write.name, None)
        elif write.kind != NAMESPACE and write.namespace not in terminating and only in ("", write.namespace):
            if write.namespace not in namespaces:
                namespaces[write.namespace] = Replay(verdict, agent, lag)
            namespaces[write.namespace].take(write)
    return verdict
