"""Rolls the pods of a clique outside scaling groups to a newer template, one after the other."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.model.expanded.clique_state import lifts_gates
from grove_compiler.model.expanded.live_object import old_status
from grove_compiler.model.expanded.live_pods import LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.pods import pods
from grove_compiler.model.expanded.rolls import PartRoll, Roll
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record


@record(slots=False)
class CliqueRoll(PartRoll):
    """The update of a PodClique, and which pods to replace."""

    part: Clique = field(repr=False)

    _selected_items = "readyPodsSelectedToUpdate"

    @lazy
    def _newest(self) -> dict[str, str]:
        return {"podTemplateHash": self.part.pod_template_hash, **super()._newest}

    @lazy
    def _is_behind(self) -> bool:
        return self.part.live_hash != self.part.pod_template_hash or bool(self._outdated)

    @lazy
    def _is_whole(self) -> bool:
        return self.roll.serving >= self.roll.desired

    @lazy
    def replaced(self) -> list[LivePod]:
        """The pods to delete now: outdated ones that are not ready, and the selected ready one.

        The selected one is checked again with `may_replace_next`: since it was selected, others may have failed. It waits while gates are
        removed, since the status that names it does. The others do not: one of them may be a pod whose gate the server keeps.
        """
        if not self.is_active:
            return []
        unready = [pod for pod in self._outdated if not pod.is_ready]
        if lifts_gates(self.part) or not self.roll.may_replace_next:
            return unready
        return unready + [pod for pod in self._outdated if pod.is_ready and pod.name == self.selection.current]

    @lazy
    def never_placed(self) -> list[LivePod]:
        """With `OnDelete`, the outdated pods that no node has had, to delete now: they are not what people replace one by one."""
        if self.part.set.update_strategy != "OnDelete" or self.part.set.is_training:
            return []
        return [pod for pod in self._outdated if not pod.node_name and not pod.is_finished]

    @lazy
    def _remaining(self) -> list[LivePod]:
        """The pods that remain after scaling in; those that it removes take no part in the update."""
        names = {pod.name for pod in pods(self.part) if pod.existing}
        return [pod for pod in live_pods(self.part) if pod.name in names]

    @lazy
    def _outdated(self) -> list[LivePod]:
        return [pod for pod in self._remaining if not pod.has_current_template]

    @lazy
    def roll(self) -> Roll:
        ready = [pod for pod in self._remaining if pod.is_ready]
        outdated = [pod.name for pod in ready if not pod.has_current_template]
        # A terminating pod still takes its room: a pod that is unschedulable now may fit once it is gone.
        unplaced = 0 if leaving_pods(self.part) else sum(pod.is_unschedulable for pod in self._remaining)
        desired = self.part.replicas
        return Roll(desired, len(ready), unplaced, self.part.min_available, self._selected.served(desired), outdated, self.at_a_time)


@memoized
def clique_roll(clique: Clique) -> CliqueRoll:
    """Returns the update of a clique."""
    return CliqueRoll(clique, old_status(clique).get("updateProgress") or {})
