"""Rolls the pods of a clique outside scaling groups to a newer template, one after the other."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.labels import POD_HASH_LABEL
from grove_compiler.model.expanded.live_object import live_object, old_status
from grove_compiler.model.expanded.live_pods import LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.pods import pods
from grove_compiler.model.expanded.rolls import Roll, Selection, next_selection, selected
from grove_compiler.model.expanded.set_update import is_over_out_of_turn, replica_is_updating
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record

SELECTED = "readyPodsSelectedToUpdate"
HASHES = ("currentPodTemplateHash", "currentPodCliqueSetGenerationHash")


@record(slots=False)
class CliqueRoll:
    """The update of a PodClique: what its `updateProgress` should be, given what it is (`old`), and which pods to replace."""

    clique: Clique = field(repr=False)
    old: Manifest = field(repr=False)

    @lazy
    def is_active(self) -> bool:
        """Whether this clique's replica is the one being updated, by a rolling update."""
        return self.clique.set.is_rolled and self.clique.member is None and replica_is_updating(self.clique.replica)

    @lazy
    def is_old(self) -> bool:
        """Whether the recorded progress is that of an update to an earlier generation."""
        clique = self.clique
        recorded = self.old.get("podCliqueSetGenerationHash"), self.old.get("podTemplateHash")
        return recorded != (clique.set.generation_hash, clique.pod_template_hash)

    @lazy
    def starts(self) -> bool:
        """Whether an update of the clique begins now; counts of an earlier one are dropped (grove #400)."""
        if not self.clique.set.is_rolled:
            return self.is_old
        return self.is_active and (self.is_old or (bool(self.old.get("updateEndedAt")) and bool(self._outdated)))

    @lazy
    def is_over(self) -> bool:
        """Whether nothing is left to replace; always true for `OnDelete`, where pods are replaced by hand."""
        if not self.is_active:
            return is_over_out_of_turn(self.clique.set, self.old)
        return not self._is_behind and self._roll.serving >= self._roll.desired

    @lazy
    def keeps_selection(self) -> bool:
        """Whether the status names the selected pod: until all are replaced, also by hand: else each pause would cost one more."""
        return self.selection.current is not None and (not self.is_over or self._is_behind)

    @lazy
    def old_hashes(self) -> Manifest:
        """The recorded hashes of the templates that all pods have, without those known to be wrong.

        Otherwise a reverted edit would look as if all pods were up to date, although some have the template in between.
        """
        old = old_status(self.clique)
        wrong = (self.clique.pod_template_hash, self.clique.set.generation_hash) if self._is_behind else ()
        return {name: template_hash for name in HASHES if (template_hash := old.get(name)) not in (None, *wrong)}

    @lazy
    def _is_behind(self) -> bool:
        label = ((live_object(self.clique).get("metadata") or {}).get("labels") or {}).get(POD_HASH_LABEL)
        return label != self.clique.pod_template_hash or bool(self._outdated)

    @lazy
    def selection(self) -> Selection:
        """The ready pods selected for replacement, with the next one if it may be replaced now."""
        if not self.is_active:
            return self._selected
        return next_selection(self._selected, self._roll)

    @lazy
    def _selected(self) -> Selection:
        """The recorded selection."""
        return selected(self.old, SELECTED, anew=self.starts)

    @lazy
    def replaced(self) -> list[LivePod]:
        """The pods to delete now: outdated ones that are not ready, and the selected ready one.

        The selected one is checked again with `may_replace_next`: since it was selected, others may have failed.
        """
        if not self.is_active:
            return []
        unready = [pod for pod in self._outdated if not pod.is_ready]
        chosen = [pod for pod in self._outdated if pod.is_ready and pod.name == self.selection.current]
        return unready + (chosen if chosen and self._roll.may_replace_next else [])

    @lazy
    def never_placed(self) -> list[LivePod]:
        """With `OnDelete`, the outdated pods that no node has had, to delete now: they are not what people replace one by one."""
        if self.clique.set.update_strategy != "OnDelete" or self.clique.set.is_training:
            return []
        return [pod for pod in self._outdated if not pod.node_name and not pod.is_finished]

    @lazy
    def _remaining(self) -> list[LivePod]:
        """The pods that remain after scaling in; those that it removes take no part in the update."""
        names = {pod.name for pod in pods(self.clique) if pod.existing}
        return [pod for pod in live_pods(self.clique) if pod.name in names]

    @lazy
    def _outdated(self) -> list[LivePod]:
        return [pod for pod in self._remaining if not pod.has_current_template]

    @lazy
    def _roll(self) -> Roll:
        ready = [pod for pod in self._remaining if pod.is_ready]
        outdated = [pod.name for pod in ready if not pod.has_current_template]
        # A terminating pod still takes its room: a pod that is unschedulable now may fit once it is gone.
        unplaced = 0 if leaving_pods(self.clique) else sum(pod.is_unschedulable for pod in self._remaining)
        desired = self.clique.replicas
        return Roll(desired, len(ready), unplaced, self.clique.min_available, self._selected.served(desired), outdated)


@memoized
def clique_roll(clique: Clique) -> CliqueRoll:
    """Returns the update of a clique."""
    return CliqueRoll(clique, old_status(clique).get("updateProgress") or {})
