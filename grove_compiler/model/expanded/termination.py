"""Finds gangs that stay below `minAvailable`: since when, their deadline, and which pods are then deleted (shipped §7.6).

Whole gangs are restarted, because their pods work together. Pods are deleted, not PodCliques: those keep the replicas that autoscalers and
people have set, which the shipped operator loses. A restart is recorded only in the ages of the new pods: the delay begins when the gang
became short of pods, or with the creation of its oldest pod if that is later. So no crash causes a second restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from grove_compiler.kube.conditions import is_true
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.clique_state import pod_counts, replica_counts
from grove_compiler.model.expanded.live_object import condition_since, live_condition, live_object
from grove_compiler.model.expanded.live_pods import LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.pod_state import pod_condition
from grove_compiler.model.expanded.replaced_pods import back_off, failing_since
from grove_compiler.model.expanded.reported_breach import (
    BREACHED,
    COMES_BACK,
    SCHEDULED,
    STARTING_SECONDS,
    UPDATING,
    ReportedBreach,
    earliest,
    reported_breaches,
)
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, ScalingGroup
from grove_compiler.model.expanded.tally import tally
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

IN_PROGRESS = "GangTerminationInProgress"


@record(slots=False)
class Breach:
    """A replica of a set, or of a scaling group, that is short of pods. `reported` is the oldest breach of one of its objects.

    Times are seconds since the epoch; `delay` is the terminationDelay in seconds.
    """

    index: int
    reported: ReportedBreach
    delay: float
    pods: list[LivePod] = field(repr=False)
    checks_fail_since: float | None = None

    @lazy
    def began(self) -> float:
        """The start of its delay: that of its breach, or after a restart when its oldest pod was created, or the first one got a node."""
        restarted = [*self._ages[:1], *(self._placed[:1] if self._is_new else [])]
        return max([self.reported.since, *restarted])

    @lazy
    def deadline(self) -> float:
        """When it is to be restarted: with exponential back-off while failing checks keep its pods from starting."""
        return self.began + max(self.delay, self._pause)

    @lazy
    def is_restarted(self) -> bool:
        """Whether its pods were created after its first delay, by a restart."""
        return bool(self._ages) and self._ages[0] >= self.reported.since + self.delay

    @lazy
    def waits_for_nodes(self) -> bool:
        """Whether all its pods are new and none has had a node yet: there is nothing that a restart could mend or free."""
        return self._is_new and not self._placed

    @lazy
    def is_announced(self) -> bool:
        """Whether an event announces the deadline: not at a slow start, nor after a restart that was announced."""
        return self.reported.was_whole and not self._is_new

    @lazy
    def serves(self) -> bool:
        """Whether any of its pods is ready, so that a restart would interrupt service."""
        return any(pod.is_ready for pod in self.pods)

    @lazy
    def _is_new(self) -> bool:
        """Whether all its pods were created since it became short of pods, or a moment before that was reported."""
        return bool(self._ages) and self._ages[0] > self.reported.since - STARTING_SECONDS

    @lazy
    def _pause(self) -> float:
        return 0.0 if self.checks_fail_since is None else back_off(max(0.0, self.began - self.checks_fail_since))

    @lazy
    def _ages(self) -> list[float]:
        """When its pods were created, the oldest first."""
        return sorted(created for pod in self.pods if (created := time(pod.created or None)) is not None)

    @lazy
    def _placed(self) -> list[float]:
        """When its pods got their nodes, in order."""
        since = (pod_condition(pod, "PodScheduled").get("lastTransitionTime") or pod.created for pod in self.pods if pod.node_name)
        return sorted(placed for one in since if (placed := time(one or None)) is not None)


@memoized
def replica_breaches(pcs: ExpandedSet) -> list[Breach]:
    """Returns the breached replicas of a set, by deadline, without those that never had enough pods.

    A replica that lacks a PodClique is left out, too: its own step creates that.
    """
    delay = _delay(pcs)
    if delay is None:
        return []
    breaches = []
    for index in tally(pcs).breached:
        replica = pcs.replicas[index]
        reported = _lasting_breach(replica.cliques, replica.scaling_groups)
        if reported is not None:
            breaches.append(_breach(replica.all_cliques, index, reported, delay))
    return sorted(breaches, key=lambda breach: (breach.deadline, breach.index))


@memoized
def member_breaches(group: ScalingGroup) -> list[Breach]:
    """Returns the breached replicas of a scaling group whose pods have been scheduled before."""
    delay = _delay(group.set)
    if delay is None:
        return []
    breaches = []
    for member in group.members:
        reported = _lasting_breach(member.cliques)
        if reported is not None:
            breaches.append(_breach(member.cliques, member.index, reported, delay))
    return breaches


def _lasting_breach(cliques: Sequence[Clique], groups: Sequence[ScalingGroup] = ()) -> ReportedBreach | None:
    """Returns the oldest reported breach of the parts that are short of pods still.

    One that has recovered is reported as well by the same step: if the restart was held up beyond its deadline, it would come too late.
    """
    short = (one for one in cliques if is_true(live_object(one), BREACHED) and pod_counts(one).holding < one.min_available)
    short_groups = (one for one in groups if is_true(live_object(one), BREACHED) and replica_counts(one).holding < one.min_available)
    return earliest(_reported(short, short_groups))


def _reported(cliques: Iterable[Clique], groups: Iterable[ScalingGroup]) -> list[ReportedBreach]:
    return [*reported_breaches(map(live_object, cliques), SCHEDULED), *reported_breaches(map(live_object, groups), BREACHED)]


def _breach(cliques: Sequence[Clique], index: int, reported: ReportedBreach, delay: float) -> Breach:
    pods = [pod for clique in cliques for pod in live_pods(clique)]
    failing = min((since for clique in cliques if (since := failing_since(clique)) is not None), default=None)
    return Breach(index, reported, delay, pods, failing)


def is_next_to_restart(breach: Breach, pcs: ExpandedSet, now: float) -> bool:
    """Reports whether this replica is the next to be restarted: no other one has an earlier deadline, or was just restarted."""
    others = [other for other in replica_breaches(pcs) if other.index != breach.index]
    overdue = [other for other in others if other.deadline <= now and not other.waits_for_nodes]
    has_earlier = any((other.deadline, other.index) < (breach.deadline, breach.index) for other in overdue)
    return not has_earlier and not any(other.is_restarted and now < other.deadline for other in others)


@memoized
def is_restarting(group: ScalingGroup) -> bool:
    """Reports whether its replica of the set was restarted, because of it or of another part, and the group has not recovered since."""
    delay, live, replica = _delay(group.set), live_object(group), group.replica
    if delay is None or not group.replicas or not is_true(live, BREACHED):
        return False
    if is_true(live, IN_PROGRESS):
        return True
    breaches = _reported(replica.cliques, replica.scaling_groups)
    pods = [pod for clique in replica.all_cliques for pod in live_pods(clique)]
    return any(Breach(replica.index, breach, delay, pods).is_restarted for breach in breaches)


def comes_back(part: Clique | ScalingGroup) -> bool:
    """Reports whether a PodClique or a scaling group has not had enough pods since it was scaled below `minAvailable`."""
    return live_condition(part, BREACHED).get("reason") in COMES_BACK


def comes_out_of_update(part: Clique | ScalingGroup) -> bool:
    """Reports whether a PodClique or a scaling group has not had enough pods since an update of it that was not brought to its end."""
    return live_condition(part, BREACHED).get("reason") in UPDATING


def was_deleted_by_us(part: Clique | ScalingGroup, at: float) -> bool:
    """Reports whether the scheduled pods of a PodClique or scaling group were deleted by the restart of their gang, or have our reason.

    That restart has its own event. Pods that were scheduled after it are missing for another reason. An update may be over, as where it is
    paused, while what it has replaced still goes.
    """
    cliques = [part] if isinstance(part, Clique) else [clique for member in part.members for clique in member.cliques]
    leaving = (pod for clique in cliques for pod in leaving_pods(clique))
    return any(pod.is_deleted_by_us for pod in leaving) or any(_was_deleted_with_gang(clique, at) for clique in cliques)


def _was_deleted_with_gang(clique: Clique, at: float) -> bool:
    delay = _delay(clique.set)
    if delay is None:
        return False
    together = [*clique.replica.cliques, *(clique.member.cliques if clique.member else ())]
    transition = time(condition_since(clique, SCHEDULED) or None) or 0.0
    return any(transition <= breach.since + delay <= at for breach in _reported(together, clique.replica.scaling_groups))


def _delay(pcs: ExpandedSet) -> float | None:
    """Returns the terminationDelay in seconds; None where gangs are not restarted: training workloads count their own restarts."""
    return None if pcs.is_training or not pcs.termination_delay else float(seconds(pcs.termination_delay))
