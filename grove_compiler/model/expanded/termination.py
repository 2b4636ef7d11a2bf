"""Gangs that stay short of what they cannot do without: since when, until when they have time, and which pods go then (shipped §7.6).

Whole gangs are restarted, for their pods work together. The pods go and not the PodCliques: those keep what autoscalers and people set
on them, which the shipped operator loses. Nothing remembers that a gang was restarted but the ages of its pods: its time begins when it
became short of pods, or when its oldest pod was made, whichever is later. So nobody restarts it twice, whoever forgets what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from grove_compiler.kube.conditions import is_true
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import time
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.check_failures import check_back_off, failing_since
from grove_compiler.model.expanded.live_object import condition_since, live_object
from grove_compiler.model.expanded.live_pods import LivePod, live_pods
from grove_compiler.model.expanded.reported_breach import BREACHED, SCHEDULED, STARTING_SECONDS, ReportedBreach, earliest, reported_breaches
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, ScalingGroup
from grove_compiler.model.expanded.tally import tally
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.record import record

IN_PROGRESS = "GangTerminationInProgress"


def replica_is_terminated(set: ExpandedSet, breach: Breach, at: float) -> bool:
    """Decides whether a replica of the set that is short of pods is restarted at a time."""
    raise NotImplementedError


def member_is_terminated(group: ScalingGroup, breach: Breach, at: float) -> bool:
    """Decides whether a replica of a scaling group that is short of pods is restarted at a time, and none other with it."""
    raise NotImplementedError


@record(slots=False)
class Breach:
    """A replica of a set, or of a scaling group, that is short of pods. `name` is the object that says so, first `since` this time.

    Times are seconds since the epoch, `delay` is how long it may last. `was_whole` is false while it has never been anything else, as at
    the start.
    """

    index: int
    name: str
    since: float
    was_whole: bool
    delay: float
    pods: list[LivePod] = field(repr=False)
    checks_fail_since: float | None = None
    decisions: DecisionRules | None = field(default=None, repr=False)

    @lazy
    def began(self) -> float:
        """From when its time counts: that of its oldest pod, if it was restarted since."""
        return max([self.since, *([min(self._ages)] if self._ages else [])])

    @lazy
    def deadline(self) -> float:
        """When its time is up: later each time, where checks keep its pods from starting."""
        return self.began + max(self.delay, self._pause)

    @lazy
    def is_restarted(self) -> bool:
        """Whether its pods are those of after its time was up once."""
        return bool(self._ages) and min(self._ages) >= self.since + self.delay

    @lazy
    def is_news(self) -> bool:
        """Whether people should know of the deadline: of a start that takes its time they know, and of a restart they were told."""
        return self.was_whole and not (self._ages and min(self._ages) > self.since - STARTING_SECONDS)

    @lazy
    def serves(self) -> bool:
        """Whether any pod of it is ready, so that there is something to lose."""
        return any(pod.is_ready for pod in self.pods)

    @lazy
    def _pause(self) -> float:
        if self.checks_fail_since is None or self.decisions is None:
            return 0.0
        return self.decisions.of(check_back_off)(max(0.0, self.began - self.checks_fail_since))

    @lazy
    def _ages(self) -> list[float]:
        return [created for pod in self.pods if (created := time(pod.created or None)) is not None]


@remembered
def replica_breaches(set: ExpandedSet) -> list[Breach]:
    """Returns the replicas of a set that have been whole and are short of pods, those first whose time is up first.

    A replica that lacks a PodClique is left alone: its step makes it.
    """
    delay = _delay(set)
    if delay is None:
        return []
    found = [_breach(set.replicas[index].all_cliques, index, breach, delay) for index, breach in tally(set).breached.items()]
    return sorted(found, key=lambda breach: (breach.deadline, breach.index))


@remembered
def member_breaches(group: ScalingGroup) -> list[Breach]:
    """Returns the replicas of a scaling group that have been on nodes and are short of pods."""
    delay = _delay(group.set)
    if delay is None:
        return []
    found = []
    for member in group.members:
        reported = earliest(reported_breaches(map(live_object, member.cliques), SCHEDULED))
        if reported is not None:
            found.append(_breach(member.cliques, member.index, reported, delay))
    return found


def _breach(cliques: Sequence[Clique], index: int, reported: ReportedBreach, delay: float) -> Breach:
    pods = [pod for clique in cliques for pod in live_pods(clique)]
    failing = min((since for clique in cliques if (since := failing_since(clique)) is not None), default=None)
    decisions = cliques[0].set.decisions if cliques else None
    return Breach(index, reported.name, reported.since, reported.was_whole, delay, pods, failing, decisions)


def comes_next(breach: Breach, set: ExpandedSet, now: float) -> bool:
    """Tells whether no other replica of the set is to be waited for: one whose time was up earlier, or one that was just restarted."""
    others = [one for one in replica_breaches(set) if one.index != breach.index]
    is_due_earlier = any(one.deadline <= now and (one.deadline, one.index) < (breach.deadline, breach.index) for one in others)
    return not is_due_earlier and not any(one.is_restarted and now < one.deadline for one in others)


@remembered
def is_restarting(group: ScalingGroup) -> bool:
    """Tells whether its replica of the set was restarted, for want of it or of another part, and the group has not recovered since."""
    delay, live, replica = _delay(group.set), live_object(group), group.replica
    if delay is None or not group.replicas or not is_true(live, BREACHED):
        return False
    if is_true(live, IN_PROGRESS):
        return True
    found = [
        *reported_breaches(map(live_object, replica.cliques), SCHEDULED),
        *reported_breaches(map(live_object, replica.scaling_groups), BREACHED),
    ]
    pods = [pod for clique in replica.all_cliques for pod in live_pods(clique)]
    return any(Breach(replica.index, one.name, one.since, True, delay, pods).is_restarted for one in found)


def went_with_gang(part: Clique | ScalingGroup, at: float) -> bool:
    """Tells whether pods that a PodClique or scaling group had on nodes are gone because the time of their gang was up.

    Of that people are told already. What has come onto nodes since then went for another reason.
    """
    cliques = [part] if isinstance(part, Clique) else [clique for member in part.members for clique in member.cliques]
    return any(_went_with_gang(clique, at) for clique in cliques)


def _went_with_gang(clique: Clique, at: float) -> bool:
    delay = _delay(clique.set)
    if delay is None:
        return False
    together = [*clique.replica.cliques, *(clique.member.cliques if clique.member else ())]
    found = [
        *reported_breaches(map(live_object, together), SCHEDULED),
        *reported_breaches(map(live_object, clique.replica.scaling_groups), BREACHED),
    ]
    came = time(condition_since(clique, SCHEDULED) or None) or 0.0
    return any(came <= one.since + delay <= at for one in found)


def _delay(set: ExpandedSet) -> float | None:
    """How long a gang may be short of pods. A training workload's restarts are counted, and so are none of these."""
    return None if set.is_training or not set.termination_delay else float(seconds(set.termination_delay))
