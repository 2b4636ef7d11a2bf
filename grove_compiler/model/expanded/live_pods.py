"""Models the live pods of a clique: the facts by which rules decide which are deleted first, and whose gate is lifted."""

from __future__ import annotations

from dataclasses import field

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.kube.names import is_hash
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import CLIQUE_LABEL, DELETION_REASON, POD_INDEX_LABEL
from grove_compiler.labels import POD_HASH_LABEL as POD_HASH_LABEL
from grove_compiler.model.declared import declared
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.inputs.check_run import TestedPod
from grove_compiler.model.inputs.snapshot import controller_of, is_finished
from grove_compiler.model.lazy import lazy, memoized
from grove_compiler.record import record
from kube_objects.manifest import is_terminating, mapping

SCHEDULING_GATE = "grove.io/podgang-pending-creation"


@record(slots=False)
class LivePod:
    """A pod that exists: `live_pods` are those that are not being deleted, `leaving_pods` the others."""

    clique: Clique = field(repr=False)
    manifest: Manifest = field(repr=False)

    name = declared(str, "metadata.name")
    labels = declared(dict[str, str], "metadata.labels")
    uid = declared(str, "metadata.uid")
    created = declared(str, "metadata.creationTimestamp", "Sorts by time; empty when unknown.")
    due = declared(str, "metadata.deletionTimestamp", "When its grace period is over; empty while it is not being deleted.")
    finalizers = declared(list[str], "metadata.finalizers", "They keep it from being removed.")
    node_name = declared(str, "spec.nodeName", "Empty until it is scheduled.")
    _hostname = declared(str, "spec.hostname")
    _gates = declared(list[Manifest], "spec.schedulingGates")
    claims = declared(list[Manifest], "spec.resourceClaims", "Those with a `resourceClaimTemplateName` are made for it alone.")
    _phase = declared(str, "status.phase")
    reason = declared(str, "status.reason", "Why it has failed, such as Evicted or OutOfcpu; empty where a container did.")
    _conditions = declared(list[Manifest], "status.conditions")
    _containers = declared(list[Manifest], "status.containerStatuses")
    _init_containers = declared(list[Manifest], "status.initContainerStatuses")

    @lazy
    def ref(self) -> ObjectRef:
        return ObjectRef("v1", "Pod", self.clique.set.namespace, self.name, self.uid)

    @lazy
    def index(self) -> int:
        """Its index in the clique, from the hostname, which nobody can change, else from the label; -1 when neither has it."""
        name, _, text = self._hostname.rpartition("-")
        if name != self.clique.name or not _is_index(text):
            text = self.labels.get(POD_INDEX_LABEL) or ""
        return int(text) if _is_index(text) else -1

    @lazy
    def phase(self) -> str:
        """Its phase; `Pending` before one is reported."""
        return self._phase or "Pending"

    @lazy
    def is_deleted_by_us(self) -> bool:
        """Whether we deleted it, for a reason that was written onto it."""
        return bool((self.manifest["metadata"].get("annotations") or {}).get(DELETION_REASON))

    def since_creation(self, reported: float) -> float:
        """Returns a time that its node has reported, but none before it was created: the clock of a node may be behind."""
        return max(reported, time(self.created or None) or 0.0)

    @lazy
    def is_finished(self) -> bool:
        """Whether it has run to completion, successfully or not."""
        return is_finished(self.manifest)

    @lazy
    def is_ready(self) -> bool:
        return any(condition.get("type") == "Ready" and condition.get("status") == "True" for condition in self._conditions)

    @property
    def ready_since(self) -> float:
        """When it became ready, in seconds since the epoch; 0 while it is not."""
        since = (condition.get("lastTransitionTime") for condition in self._conditions if condition.get("type") == "Ready")
        return self.since_creation(time(next(since, None)) or 0.0) if self.is_ready else 0.0

    @lazy
    def is_unschedulable(self) -> bool:
        """Whether its scheduler has found no node for it."""
        conditions = self._conditions
        return any(condition.get("type") == "PodScheduled" and condition.get("reason") == "Unschedulable" for condition in conditions)

    @lazy
    def template_hash(self) -> str:
        """The hash of the template that it was made from, by its label; empty where nobody knows it.

        Where somebody has taken the label, or made it something that is no hash, it is the hash that all pods of the clique were last
        reported to have, else that of its PodClique if that has had no other since the pod exists. Else a pod whose label nobody can put
        right would be replaced without end.
        """
        label = self.labels.get(POD_HASH_LABEL) or ""
        if is_hash(label):
            return label
        return self.clique.reported_hash or (self.clique.live_hash if self._is_newer_than_updates else "") or label

    @property
    def _is_newer_than_updates(self) -> bool:
        """Whether it was created since the last update of its clique or scaling group began, if there was any."""
        clique, snapshot = self.clique, self.clique.set.snapshot
        live = snapshot.live(clique.ref) or {}
        reported = status_of(live).get("currentPodTemplateHash")
        if (live.get("metadata") or {}).get("generation") == 1 and reported in (None, clique.live_hash):
            return True  # its first update, to what it was created with, is reported once its pods are ready
        part = live if clique.member is None else snapshot.live(clique.member.group.ref)
        began = mapping(status_of(part).get("updateProgress")).get("updateStartedAt") or ""
        return self.created >= str(began) if began else not reported

    @lazy
    def has_crashed(self) -> bool:
        """Whether it is not ready and a container has failed before. One that is ready again has recovered from its restarts (#697)."""
        return not self.is_ready and any(
            ((container.get("lastState") or {}).get("terminated") or {}).get("exitCode", 0) != 0 for container in self._containers
        )

    @property
    def container_statuses(self) -> list[Manifest]:
        """The statuses of its containers, those of init containers first."""
        return [*self._init_containers, *self._containers]

    @property
    def tested(self) -> TestedPod:
        """The results of its preflight checks."""
        return TestedPod(self.manifest)

    @lazy
    def is_unhealthy(self) -> bool:
        """Whether a container has started and is not ready; one that has not started may still become ready."""
        return any(container.get("started") and not container.get("ready") for container in self._containers)

    @property
    def holds(self) -> bool:
        """Whether it is on a node and healthy as far as known: ready, or still starting."""
        return bool(self.node_name) and not (self.is_finished or self.has_crashed or self.is_unhealthy)

    @lazy
    def has_current_template(self) -> bool:
        """Whether it was made from the clique's current template."""
        return self.template_hash == self.clique.pod_template_hash

    @lazy
    def is_gated(self) -> bool:
        """Whether it has Grove's scheduling gate."""
        return any(gate.get("name") == SCHEDULING_GATE for gate in self._gates)


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdecimal()


@memoized
def live_pods(clique: Clique) -> list[LivePod]:
    """Returns the pods that this PodClique (by UID) owns and that are not being deleted, the oldest first."""
    pods = [LivePod(clique, manifest) for manifest in _manifests(clique) if not is_terminating(manifest)]
    return sorted(pods, key=lambda pod: (pod.created, pod.name))


@memoized
def leaving_pods(clique: Clique) -> list[LivePod]:
    """Returns the pods that this PodClique (by UID) owns and that are being deleted."""
    return [LivePod(clique, manifest) for manifest in _manifests(clique) if is_terminating(manifest)]


@memoized
def former_pods(clique: Clique) -> list[LivePod]:
    """Returns the pods that are left of a former PodClique of this name, which was deleted: the garbage collector deletes them."""
    pods = clique.set.snapshot.labelled("", "Pod", CLIQUE_LABEL, clique.name, clique.set.namespace)
    return [LivePod(clique, pod) for pod in pods if _is_of_another(clique, controller_of(pod) or {})]


def _is_of_another(clique: Clique, controller: Manifest) -> bool:
    """Reports whether the controller of a pod is a PodClique that has the name of this one, and another UID."""
    is_namesake = (controller.get("kind"), controller.get("name")) == (clique.ref.kind, clique.name)
    return is_namesake and controller.get("uid") not in (None, "", clique.ref.uid)


@memoized
def _manifests(clique: Clique) -> list[Manifest]:
    return clique.set.snapshot.owned("Pod", clique.ref)
