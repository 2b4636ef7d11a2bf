"""Finds the gang of a pod, its size, and the name of its ConfigMap. Rules decide what identifies a gang."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.kube.indices import read_indices
from grove_compiler.kube.names import dns1123_subdomain
from grove_compiler.labels import ATTEMPT_LABEL
from grove_compiler.model.inputs.check_run import passed_containers
from grove_compiler.model.inputs.snapshot import is_finished
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.pod_devices import PodWithDevices
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.record import record
from grove_compiler.unknown import Unknown
from kube_objects.manifest import is_terminating

PREFIX = "preflight-"
"""The prefix of the names of all gangs' ConfigMaps. Nothing else is ever written."""
LABEL = "preflight.grove.io/gang"
"""The label of a gang's pods and of its ConfigMap, by which they are indexed."""
MAX_NAME_LENGTH = 253
MAX_LABEL_LENGTH = 63
HASH_LENGTH = 8
MAX_DIGITS = 6
"""Digits of the size of a gang; no cluster has as many pods."""


@record(slots=False)
class GangReference:
    """A gang as its pods refer to it.

    `parts` distinguish it from the other gangs of its namespace. `object` is the API object that represents it, an empty reference if none
    does. `declared_size` is the number of pods that the pods themselves declare, 0 if they do not, or if `size_problem` tells why what
    they declare is none. `_pod` is the one that refers to it, and `_has_gang_check` tells whether pods of a template get a check that waits
    for their gang.
    """

    method: str
    namespace: str
    parts: list[str]
    object: ObjectRef
    declared_size: int
    size_problem: str
    _pod: PodWithDevices
    _has_gang_check: Callable[[Manifest], bool]

    @property
    def id(self) -> str:
        """Its unique id: the method of discovery, the namespace and the parts."""
        return "/".join([self.method, self.namespace, *self.parts])

    @lazy
    def config_map(self) -> str:
        """The name of its ConfigMap."""
        return config_map_name(self.parts)

    @lazy
    def label(self) -> str:
        """The value of the label of its pods: the name of its ConfigMap, truncated and with a hash if it is too long for a label."""
        name = self.config_map
        return name if len(name) <= MAX_LABEL_LENGTH else f"{name[: MAX_LABEL_LENGTH - HASH_LENGTH - 1].rstrip('-.')}-{_hash(self.parts)}"

    @lazy
    def manifest(self) -> Manifest:
        """The object that represents it; empty if there is none, or while it is not synced."""
        of = self.object
        return (self._pod.snapshot.find(of.api_version, of.kind, of.namespace, of.name) if of.name else None) or {}

    @lazy
    def size(self) -> int:
        """How many of its pods will register, by the rule `gang_size`; 0 while unknown."""
        return max(0, self._pod.decisions.of(CheckedGangDecisions).gang_size(self))

    @lazy
    def workload_group(self) -> Manifest:
        """The entry of a Workload's `podGroups` that its pods belong to; empty without a matching one."""
        groups: list[Manifest] = (self.manifest.get("spec") or {}).get("podGroups") or []
        name = self.parts[1] if len(self.parts) > 1 else ""
        return next((group for group in groups if group.get("name") == name or not name), {})

    @lazy
    def kueue_pods(self) -> int:
        """The number of pods with a gang check in a Workload of Kueue: the admitted counts, before admission the requested ones."""
        admission = ((self.manifest.get("status") or {}).get("admission") or {}).get("podSetAssignments") or []
        admitted = {assignment.get("name"): assignment.get("count") for assignment in admission}
        pod_sets = (self.manifest.get("spec") or {}).get("podSets") or []
        checked = (pod_set for pod_set in pod_sets if self._has_gang_check(pod_set.get("template") or {}))
        return sum(admitted.get(pod_set.get("name")) or pod_set.get("count") or 0 for pod_set in checked)

    @lazy
    def passed(self) -> list[str]:
        """The check containers that pods of the gang have passed which run or are done: no peer is left to run these with another pod."""
        try:
            pods = self._pod.snapshot.labelled("", "Pod", LABEL, self.label, self.namespace)
        except Unknown:
            return []
        passed = (pod for pod in pods if not is_terminating(pod) and (not is_finished(pod) or self._is_done(pod)))
        return sorted({name for pod in passed for name in passed_containers(pod, "state")})

    def _is_done(self, pod: Manifest) -> bool:
        """Reports whether a pod has succeeded in the attempt of a training workload that the gang's pod is of."""
        attempt = (pod["metadata"].get("labels") or {}).get(ATTEMPT_LABEL)
        return status_of(pod).get("phase") == "Succeeded" and attempt is not None and attempt == self._pod.labels.get(ATTEMPT_LABEL)

    @lazy
    def grove_pods(self) -> int:
        """The number of pods with a gang check in a PodGang: the replicas of its PodCliques, or `minReplicas` of those not found.

        Ranks of a training workload that have succeeded are no peers any more.
        """
        groups = (self.manifest.get("spec") or {}).get("podgroups") or []
        return sum(self._pods_of(group) for group in groups)

    def _pods_of(self, group: Manifest) -> int:
        clique = self._pod.snapshot.find("grove.io/v1alpha1", "PodClique", self.namespace, group.get("name") or "")
        spec = (clique or {}).get("spec") or {}
        if clique is None or not spec.get("podSpec"):
            return group.get("minReplicas") or 0
        template = {"metadata": clique.get("metadata"), "spec": spec["podSpec"]}
        replicas: int = spec.get("replicas") or 0
        return replicas - self._succeeded(status_of(clique), replicas) if self._has_gang_check(template) else 0

    def _succeeded(self, status: Manifest, replicas: int) -> int:
        """Returns how many pods of a PodClique have succeeded, by its status about the attempt that the gang's pod is of."""
        is_current = self._pod.labels.get(ATTEMPT_LABEL) == str(status.get("attempt"))
        return len(read_indices(status.get("succeededIndexes") or "", replicas)) if is_current else 0


class CheckedGangDecisions(Protocol):
    @staticmethod
    def gang_methods(preflight: Preflight) -> list[str]:
        """Decides by which methods the gang of a pod is discovered; the first one that finds a gang applies."""

    @staticmethod
    def gang_reference(pod: PodWithDevices, method: str) -> dict[str, Any] | None:
        """Decides the gang of a pod: `parts`, optionally `apiVersion`, `kind` and `name` of its object, and `size`; none without a gang.

        `sizeFrom` says in words where the pod declares the size.
        """

    @staticmethod
    def gang_size(gang: GangReference) -> int:
        """Decides how many pods of a gang will register; 0 while that is unknown."""


def find_gang(pod: PodWithDevices, has_gang_check: Callable[[Manifest], bool]) -> GangReference | None:
    """Returns the gang of a pod; none for a pod without a gang."""
    decisions = pod.decisions.of(CheckedGangDecisions)
    for method in decisions.gang_methods(pod.preflight):
        answer = decisions.gang_reference(pod, method)
        if answer and all(answer["parts"]):
            reference = ObjectRef(answer.get("apiVersion") or "", answer.get("kind") or "", pod.namespace, answer.get("name") or "")
            size, problem = _declared_size(answer)
            return GangReference(method, pod.namespace, answer["parts"], reference, size, problem, pod, has_gang_check)
    return None


def config_map_name(parts: list[str]) -> str:
    """Returns the name of a gang's ConfigMap: `preflight-` and the parts of the gang's id.

    A name that could also be another gang's, that is no DNS subdomain, or that is too long, ends with a hash of the parts.
    """
    name = PREFIX + "-".join(parts)
    is_ambiguous = len(parts) > 1 and any("-" in part for part in parts)
    if not is_ambiguous and len(name) <= MAX_NAME_LENGTH and not dns1123_subdomain(name):
        return name
    safe = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())
    return f"{safe[: MAX_NAME_LENGTH - HASH_LENGTH - 1].rstrip('-')}-{_hash(parts)}"


def _hash(parts: list[str]) -> str:
    from hashlib import sha256  # loads OpenSSL, which few names need

    return sha256("/".join(parts).encode()).hexdigest()[:HASH_LENGTH]


def _declared_size(answer: dict[str, Any]) -> tuple[int, str]:
    """Returns the size that pods declare, and why what they declare is none. Without an object of the gang nobody else can say it."""
    source, declared = answer.get("sizeFrom") or "its size", answer.get("size")
    text = str(declared) if declared is not None else ""
    if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS and int(text):
        return int(text), ""
    if declared is None:
        return 0, f"{source} is missing" if "sizeFrom" in answer and not answer.get("kind") else ""
    return 0, f"{source} is {text!r}, not a number of pods such as 2"
