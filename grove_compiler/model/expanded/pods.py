"""Computes the pods of a clique: their indices and names, and which are deleted on scale-in (shipped semantics §3.10, §7.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from grove_compiler.model import names
from grove_compiler.model.expanded.attempts.attempt import attempt_pods, is_kept, replica_attempt
from grove_compiler.model.expanded.attempts.clique_attempt import clique_attempt
from grove_compiler.model.expanded.gates import GateDecisions, names_in_gang
from grove_compiler.model.expanded.live_pods import LivePod, leaving_pods, live_pods
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import memoized
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.record import record


@record
class Pod:
    """A pod that should exist. `hostname` follows from its index; `name` does not change during its life.

    `gated` tells whether it has Grove's scheduling gate. `template` is what it was or will be made from, and `template_hash` its label; an
    existing pod keeps both.
    """

    name: str
    hostname: str
    index: int
    existing: bool
    gated: bool
    template: CliqueTemplate
    template_hash: str


class PodDecisions(Protocol):
    @staticmethod
    def scale_in_order(pod: LivePod) -> list[int]:
        """Decides which pods are deleted on scale-in: those with the lowest lists of values, compared element by element."""


@memoized
def pods(clique: Clique) -> list[Pod]:
    """Returns the pods that should exist, by index.

    Pods that hold an index keep it and their name; the lowest free indices are filled. A terminating pod gives up its index, but its name
    stays taken while it exists; a finished one keeps its index until a rule deletes it. In a training workload only pods of the current
    attempt count, and the attempt decides which missing ones are made.
    """
    holders = _holders(clique) if clique.set.snapshot else {}
    if clique.set.is_training:
        return _existing_and_new(clique, holders, clique_attempt(clique).to_create)
    missing = clique.replicas - len(holders)
    if missing < 0:
        for pod in sorted(holders.values(), key=clique.set.decisions.of(PodDecisions).scale_in_order)[:-missing]:
            del holders[pod.index]
    return _existing_and_new(clique, holders, _free_indices(holders, missing))


def _existing_and_new(clique: Clique, holders: dict[int, LivePod], free: list[int]) -> list[Pod]:
    """Returns the existing pods, and new ones for the `free` indices, by index."""
    new_names: set[str] = set()
    indices = sorted([*holders, *free])
    return [_existing_pod(clique, holders[i]) if i in holders else _new_pod(clique, i, new_names) for i in indices]


@memoized
def retained_pods(clique: Clique) -> list[Pod]:
    """Returns the pods of the previous attempt that are kept for their logs and no longer belong to a gang."""
    is_kept_here = clique.set.is_training and clique.set.keeps_on_restart
    return [_existing_pod(clique, pod) for pod in live_pods(clique) if is_kept(pod)] if is_kept_here else []


def pod_names(clique: Clique) -> list[str]:
    """Returns the sorted names of a clique's pods: the desired ones where this compilation makes pods, else the live ones."""
    return sorted(pod.name for pod in (pods(clique) if clique.set.settings.pods else live_pods(clique)))


def _holders(clique: Clique) -> dict[int, LivePod]:
    """Returns the live pods by index; of two with the same index the older wins, but in a service never one that has finished."""
    holders: dict[int, LivePod] = {}
    found = attempt_pods(clique)
    for pod in found if clique.set.is_training else sorted(found, key=lambda pod: pod.is_finished):
        if pod.index >= 0:
            holders.setdefault(pod.index, pod)
    return holders


def _free_indices(taken: dict[int, LivePod], count: int) -> list[int]:
    """Returns the lowest `count` free indices; empty when `count` is below 1."""
    return [index for index in range(len(taken) + count) if index not in taken][:count] if count > 0 else []


def _existing_pod(clique: Clique, pod: LivePod) -> Pod:
    # Kubernetes lets gates be removed from a pod but never added, so the rule is only asked for a pod that has one.
    gated = pod.is_gated and clique.set.decisions.of(GateDecisions).gate_state(pod) == "Gated"
    template, template_hash = clique.template, pod.template_hash
    if template_hash not in ("", clique.template_hash):
        newer = clique.declared if template_hash == clique.pod_template_hash else None
        template = newer or clique.set.recorded_template(clique.declared, template_hash) or template
    return Pod(pod.name, names.part_of(clique.name, pod.index), pod.index, True, gated, template, template_hash)


def _new_pod(clique: Clique, index: int, new_names: set[str]) -> Pod:
    """Returns a new pod, and adds its name to `new_names`: one that no pod has now, nor had one that was seen to be deleted.

    A new name is how others know a new pod.
    """
    snapshot, namespace = clique.set.snapshot, clique.set.namespace
    is_taken: Callable[[str], bool] = new_names.__contains__
    # Offline there is no pod to look up, and ten thousand look-ups would be a tenth of a compilation.
    if snapshot:
        had = _names_of_deleted(clique)
        is_taken = lambda name: name in new_names or name in had or snapshot.get("v1", "Pod", namespace, name) is not None  # noqa: E731
    attempt = replica_attempt(clique.replica).number if clique.set.is_training else 1
    name = names.pod(clique.name, index, is_taken, attempt, _announced_names(clique) if snapshot else ())
    new_names.add(name)
    gated = clique.set.decisions.of(GateDecisions).new_pod_is_gated(clique)
    return Pod(name, names.part_of(clique.name, index), index, False, gated, clique.template, clique.template_hash)


@memoized
def _names_of_deleted(clique: Clique) -> frozenset[str]:
    """Returns the names of all pods of the clique that were seen to be deleted, also of an earlier PodClique of its name.

    None where the clique gets no pods: a gang tells their names also while their group is scaled to zero, and each process has seen others.
    """
    return frozenset(clique.set.snapshot.deleted_names("Pod", clique.ref)) if clique.is_desired else frozenset()


@memoized
def _announced_names(clique: Clique) -> frozenset[str]:
    """Returns the names that the live gang tells of pods which are still to be created.

    A process that has not seen the former pods gives these the same names. Where the clique gets no pods, what the gang tells may still be
    the names of former ones. Without those of other pods there is mostly none: each costs a new pod as many tries as there are.
    """
    if not clique.is_desired:
        return frozenset()
    existing = {pod.name for pod in (*live_pods(clique), *leaving_pods(clique))}
    return frozenset(names_in_gang(clique) - existing - _names_of_deleted(clique))
