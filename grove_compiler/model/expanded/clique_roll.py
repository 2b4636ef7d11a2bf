"""How the pods of a clique outside scaling groups are replaced by newer ones."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.live_object import live_object, old_status
from grove_compiler.model.expanded.live_pods import POD_HASH_LABEL, LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.pods import pods
from grove_compiler.model.expanded.rolls import Roll, Selection, next_selection, one_more_may_go, selected
from grove_compiler.model.expanded.set_update import replica_is_updating
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.record import record

HASHES = ("currentPodTemplateHash", "currentPodCliqueSetGenerationHash")


@record(slots=False)
class CliqueRoll:
    """What a PodClique's status should say of its update, given what it says already; and what has to go for it."""

    clique: Clique = field(repr=False)
    old: Manifest = field(repr=False)

    @lazy
    def is_active(self) -> bool:
        """Whether the update has come to this clique, and pods are replaced one after the other."""
        return self.clique.set.is_rolled and self.clique.member is None and replica_is_updating(self.clique.replica)

    @lazy
    def is_old(self) -> bool:
        """Whether the status tells of another update than that to what is declared now."""
        clique = self.clique
        told = self.old.get("podCliqueSetGenerationHash"), self.old.get("podTemplateHash")
        return told != (clique.set.generation_hash, clique.pod_template_hash)

    @lazy
    def starts(self) -> bool:
        """Whether an update of the clique begins now; what was counted for an earlier one counts no more (grove #400)."""
        if not self.clique.set.is_rolled:
            return self.is_old
        return self.is_active and (self.is_old or (bool(self.old.get("updateEndedAt")) and bool(self._outdated)))

    @lazy
    def is_over(self) -> bool:
        """Whether nothing is left to be replaced by us. Where pods are replaced by hand, nothing ever is."""
        if not self.is_active:
            return not self.clique.set.is_rolled or bool(self.old.get("updateEndedAt")) or not self.old
        return not self._is_behind and self._roll.serving >= self.clique.min_available

    @lazy
    def old_hashes(self) -> Manifest:
        """Which templates the status said that all pods have, but what is known to be wrong: some may be of those that were between.

        Without this, an edit that is taken back would find that all is as it should be, since nothing was told yet of the first one.
        """
        old = old_status(self.clique)
        wrong = (self.clique.pod_template_hash, self.clique.set.generation_hash) if self._is_behind else ()
        return {name: hash for name in HASHES if (hash := old.get(name)) not in (None, *wrong)}

    @lazy
    def _is_behind(self) -> bool:
        label = ((live_object(self.clique).get("metadata") or {}).get("labels") or {}).get(POD_HASH_LABEL)
        return label != self.clique.pod_template_hash or bool(self._outdated)

    @lazy
    def selection(self) -> Selection:
        """The ready pods that were selected, with the next if it may go now."""
        if not self.is_active:
            return Selection()
        old = Selection() if self.starts else selected(self.old.get("readyPodsSelectedToUpdate") or {})
        return next_selection(old, self._roll, self.clique.set.decisions.of(one_more_may_go))

    @lazy
    def replaced(self) -> list[LivePod]:
        """The pods that have to go now: those of an older template that are not ready, and the ready one that was selected.

        It goes only while one more may: since it was selected, others may have failed.
        """
        if not self.is_active:
            return []
        gone = [pod for pod in self._outdated if not pod.is_ready]
        chosen = [pod for pod in self._outdated if pod.is_ready and pod.name == self.selection.current]
        return gone + (chosen if chosen and self.clique.set.decisions.of(one_more_may_go)(self._roll) else [])

    @lazy
    def _kept(self) -> list[LivePod]:
        """The pods that scaling in leaves: what goes for that serves nobody any more."""
        names = {pod.name for pod in pods(self.clique) if pod.existing}
        return [pod for pod in live_pods(self.clique) if pod.name in names]

    @lazy
    def _outdated(self) -> list[LivePod]:
        return [pod for pod in self._kept if not pod.has_current_template]

    @lazy
    def _roll(self) -> Roll:
        ready = [pod for pod in self._kept if pod.is_ready]
        behind = [pod.name for pod in ready if not pod.has_current_template]
        # While a pod is on its way out its room is, too: what finds none now may do so then.
        unplaced = 0 if leaving_pods(self.clique) else sum(pod.is_unschedulable for pod in self._kept)
        return Roll(self.clique.replicas, len(ready), unplaced, self.clique.min_available, behind)


@remembered
def clique_roll(clique: Clique) -> CliqueRoll:
    """Returns how the update of a clique stands."""
    return CliqueRoll(clique, old_status(clique).get("updateProgress") or {})
