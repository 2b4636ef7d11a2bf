"""The pods of a clique: which indices they hold, how they are called, which of too many go (shipped semantics §3.10, §7.7)."""

from __future__ import annotations

from grove_compiler.model import names
from grove_compiler.model.expanded.attempts.attempt import attempt_pods, is_kept, replica_attempt
from grove_compiler.model.expanded.attempts.clique_attempt import clique_attempt
from grove_compiler.model.expanded.check_failures import failed_checks
from grove_compiler.model.expanded.gates import gate_is_lifted, new_pod_is_gated
from grove_compiler.model.expanded.live_pods import LivePod, live_pods
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import remembered
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.record import record


@record
class Pod:
    """A pod that should exist. `hostname` follows from its index, `name` does not change while it lives.

    `gated` says whether Grove still keeps the scheduler off it. `template` is what it was made from, or is to be, and `template_hash` its
    label: one that exists stays what it is.
    """

    name: str
    hostname: str
    index: int
    existing: bool
    gated: bool
    template: CliqueTemplate
    template_hash: str


def scale_in_order(pod: LivePod) -> list[int]:
    """Decides which of too many pods go: those with the lowest values, which are compared one after the other."""
    raise NotImplementedError


@remembered
def pods(clique: Clique) -> list[Pod]:
    """Returns the pods that should exist, by index.

    Pods that hold an index keep it and their name; the lowest free indices are filled. A pod that is being deleted or has finished
    gives its index up, but its name stays taken while it exists; one whose check failed keeps it until a rule deletes it. In a training
    workload only pods of the current attempt count, one that has finished keeps its index, and what is missing is made as the attempt says.
    """
    holders = _holders(clique) if clique.set.snapshot else {}
    if clique.set.is_training:
        return _given(clique, holders, clique_attempt(clique).wanted)
    missing = clique.replicas - len(holders)
    if missing < 0:
        for pod in sorted(holders.values(), key=clique.set.decisions.of(scale_in_order))[:-missing]:
            del holders[pod.index]
    return _given(clique, holders, _free_indices(holders, missing))


def _given(clique: Clique, holders: dict[int, LivePod], free: list[int]) -> list[Pod]:
    """The pods that there are, and new ones for the indices that are `free`."""
    given: set[str] = set()
    indices = sorted([*holders, *free])
    return [_existing_pod(clique, holders[i]) if i in holders else _new_pod(clique, i, given) for i in indices]


@remembered
def kept_pods(clique: Clique) -> list[Pod]:
    """Returns the pods of the attempt before that stay for their logs, and belong to no gang any more."""
    is_kept_here = clique.set.is_training and clique.set.keeps_on_restart
    return [_existing_pod(clique, pod) for pod in live_pods(clique) if is_kept(pod)] if is_kept_here else []


def pod_names(clique: Clique) -> list[str]:
    """Returns the sorted names of a clique's pods: of those that should exist where this compilation makes them, else of those that do."""
    return sorted(pod.name for pod in (pods(clique) if clique.set.settings.pods else live_pods(clique)))


def _holders(clique: Clique) -> dict[int, LivePod]:
    """The live pods by index; of two that claim one index the older wins."""
    holders: dict[int, LivePod] = {}
    failed = {} if clique.set.is_training else {one.pod.name for one in failed_checks(clique)}
    for pod in attempt_pods(clique):
        if pod.index >= 0 and (clique.set.is_training or not pod.is_finished or pod.name in failed):
            holders.setdefault(pod.index, pod)
    return holders


def _free_indices(taken: dict[int, LivePod], count: int) -> list[int]:
    """The lowest `count` indices that nobody holds; none when `count` is below 1."""
    return [index for index in range(len(taken) + count) if index not in taken][:count] if count > 0 else []


def _existing_pod(clique: Clique, pod: LivePod) -> Pod:
    # Kubernetes lets gates be taken off a pod and never put on again, so a pod without one is not worth asking a rule about.
    gated = pod.is_gated and not clique.set.decisions.of(gate_is_lifted)(pod)
    template, hash = clique.template, pod.template_hash or clique.template_hash
    if hash != clique.template_hash:
        newer = clique.declared if hash == clique.pod_template_hash else None
        template = newer or clique.set.recorded_template(clique.declared, hash) or template
    return Pod(pod.name, names.part_of(clique.name, pod.index), pod.index, True, gated, template, hash)


def _new_pod(clique: Clique, index: int, given: set[str]) -> Pod:
    """A pod whose name nobody in the namespace has, whosever it is, and which was not `given` to another one just now."""
    snapshot, namespace = clique.set.snapshot, clique.set.namespace
    # Without a cluster nothing is there to ask about, and to ask for each of ten thousand pods would be a tenth of a compilation.
    is_taken = (lambda name: name in given or snapshot.get("v1", "Pod", namespace, name) is not None) if snapshot else given.__contains__
    attempt = replica_attempt(clique.replica).number if clique.set.is_training else 1
    name = names.pod(clique.name, index, is_taken, attempt)
    given.add(name)
    gated = clique.set.decisions.of(new_pod_is_gated)(clique)
    return Pod(name, names.part_of(clique.name, index), index, False, gated, clique.template, clique.template_hash)
