"""Finds the gang that a pod is in, its size, and the name of its ConfigMap. Rules say what identifies a gang."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.names import dns1123_subdomain
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.check_run import passed_containers
from grove_compiler.model.inputs.snapshot import Snapshot, Unknown, is_finished, is_terminating
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.record import record

PREFIX = "preflight-"
"""What every ConfigMap of a gang begins with; nothing else is ever written."""
LABEL = "preflight.grove.io/gang"
"""A label of a gang's pods and of its ConfigMap: its value leads to all of them with one look into an index."""
LONGEST_NAME = 253
LONGEST_LABEL = 63
HASH_LENGTH = 8


@record(slots=False)
class PodGroupMember:
    """A pod, as far as it says in which gang it is."""

    manifest: Manifest
    preflight: Preflight

    @property
    def spec(self) -> Manifest:
        """`spec`."""
        return self.manifest.get("spec") or {}

    @property
    def labels(self) -> dict[str, str]:
        """`metadata.labels`."""
        return self._metadata.get("labels") or {}

    @property
    def annotations(self) -> dict[str, str]:
        """`metadata.annotations`."""
        return self._metadata.get("annotations") or {}

    @property
    def _metadata(self) -> Manifest:
        return self.manifest.get("metadata") or {}


HasGangCheck = Callable[[Manifest], bool]
"""Tells of a template of pods whether these have a check in which they wait for the gang."""


@record(slots=False)
class GangReference:
    """A gang as its pods name it.

    `parts` tell it from the other gangs of the namespace, `object` is what stands for it (empty where no object does), `declared_size`
    the number of pods that the pods themselves tell, 0 where they do not.
    """

    method: str
    namespace: str
    parts: list[str]
    object: ObjectRef
    declared_size: int
    snapshot: Snapshot
    decisions: DecisionRules
    _has_gang_check: HasGangCheck

    @property
    def id(self) -> str:
        """Tells the gang from any other, whatever its parts are made of."""
        return "/".join([self.method, self.namespace, *self.parts])

    @lazy
    def config_map(self) -> str:
        """The name of its ConfigMap."""
        return config_map_name(self.parts)

    @lazy
    def label(self) -> str:
        """The value of the label that its pods bear: that name, or a hash of what does not fit into a label."""
        name = self.config_map
        return name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - HASH_LENGTH - 1].rstrip('-.')}-{_hash(self.parts)}"

    @lazy
    def manifest(self) -> Manifest:
        """The object that stands for it; empty where there is none, or nobody knows it yet."""
        reference = self.object
        if not reference.name:
            return {}
        try:
            return self.snapshot.get(reference.api_version, reference.kind, reference.namespace, reference.name) or {}
        except Unknown:
            return {}

    @lazy
    def size(self) -> int:
        """How many of its pods will register; 0 while nobody knows."""
        return max(0, self.decisions.of(gang_size)(self))

    @lazy
    def workload_group(self) -> Manifest:
        """The pod group of a Workload that its pods are in; empty where that names none."""
        groups: list[Manifest] = (self.manifest.get("spec") or {}).get("podGroups") or []
        named = self.parts[1] if len(self.parts) > 1 else ""
        return next((group for group in groups if group.get("name") == named or not named), {})

    @lazy
    def kueue_pods(self) -> int:
        """The pods of Kueue's Workload that wait for the gang: of each set as many as are admitted, or all of them before that."""
        admission = ((self.manifest.get("status") or {}).get("admission") or {}).get("podSetAssignments") or []
        admitted = {one.get("name"): one.get("count") for one in admission}
        sets = (self.manifest.get("spec") or {}).get("podSets") or []
        counts = (admitted.get(one.get("name")) or one.get("count") or 0 for one in sets if self._has_gang_check(one.get("template") or {}))
        return sum(counts)

    @lazy
    def passed(self) -> list[str]:
        """The containers of checks that pods of the gang which stay have behind them: nobody would run these with another pod."""
        try:
            pods = self.snapshot.labelled("", "Pod", LABEL, self.label, self.namespace)
        except Unknown:
            return []
        staying = (pod for pod in pods if not is_terminating(pod) and not is_finished(pod))
        return sorted({name for pod in staying for name in passed_containers(pod)})

    @lazy
    def grove_pods(self) -> int:
        """The pods of a PodGang that wait for it: replicas of its PodCliques, or what the gang needs where those are not known."""
        groups = (self.manifest.get("spec") or {}).get("podgroups") or []
        return sum(self._pods_of(group) for group in groups)

    def _pods_of(self, group: Manifest) -> int:
        try:
            clique = self.snapshot.get("grove.io/v1alpha1", "PodClique", self.namespace, group.get("name") or "")
        except Unknown:
            clique = None
        spec = (clique or {}).get("spec") or {}
        if clique is None or not spec.get("podSpec"):
            return group.get("minReplicas") or 0
        template = {"metadata": clique.get("metadata"), "spec": spec["podSpec"]}
        return (spec.get("replicas") or 0) if self._has_gang_check(template) else 0


def gang_methods(preflight: Preflight) -> list[str]:
    """Decides in which ways the gang of a pod is looked for, the first that finds one counts."""
    raise NotImplementedError


def gang_reference(pod: PodGroupMember, method: str) -> dict[str, Any] | None:
    """Decides which gang a pod names: `parts`, and perhaps `apiVersion`, `kind` and `name` of its object, and `size`; none for none."""
    raise NotImplementedError


def gang_size(gang: GangReference) -> int:
    """Decides how many pods of a gang will register; 0 while that is not known."""
    raise NotImplementedError


def find_gang(
    manifest: Manifest, namespace: str, preflight: Preflight, snapshot: Snapshot, decisions: DecisionRules, has_gang_check: HasGangCheck
) -> GangReference | None:
    """Returns the gang that a pod names; none for a pod that is in no gang."""
    pod = PodGroupMember(manifest, preflight)
    for method in decisions.of(gang_methods)(preflight):
        found = decisions.of(gang_reference)(pod, method)
        if found and all(found["parts"]):
            reference = ObjectRef(found.get("apiVersion") or "", found.get("kind") or "", namespace, found.get("name") or "")
            return GangReference(
                method, namespace, found["parts"], reference, _number(found.get("size")), snapshot, decisions, has_gang_check
            )
    return None


def config_map_name(parts: list[str]) -> str:
    """Returns `preflight-` and the parts of a gang's id.

    Names that could be another gang's, that Kubernetes would not take, or that are too long, end with a hash of the parts.
    """
    name = PREFIX + "-".join(parts)
    is_ambiguous = len(parts) > 1 and any("-" in part for part in parts)
    if not is_ambiguous and len(name) <= LONGEST_NAME and not dns1123_subdomain(name):
        return name
    safe = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())
    return f"{safe[: LONGEST_NAME - HASH_LENGTH - 1].rstrip('-')}-{_hash(parts)}"


def _hash(parts: list[str]) -> str:
    from hashlib import sha256  # loads OpenSSL, which few names need

    return sha256("/".join(parts).encode()).hexdigest()[:HASH_LENGTH]


def _number(value: Any) -> int:
    text = str(value or "")
    return int(text) if text.isascii() and text.isdigit() else 0
