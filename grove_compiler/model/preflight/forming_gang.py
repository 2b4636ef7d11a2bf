"""Models a gang whose pods are starting their checks, from its pods in the cluster (`gang` in rules)."""

from __future__ import annotations

from typing import Any, Protocol
from zlib import crc32

from grove_compiler.graph.node import Manifest
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.declared import declared
from grove_compiler.model.inputs.check_run import CHECK_PREFIX, passed_containers
from grove_compiler.model.inputs.snapshot import is_finished
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.gang import GangReference
from grove_compiler.record import record
from kube_objects.manifest import is_terminating

VOLUME = "preflight-gang-config"
"""The volume with the gang's ConfigMap."""
HOST_PORTS = range(20000, 29500)
"""The ports of gangs in the network of their nodes: below node ports and those of outgoing connections, without 29500."""


@record(slots=False)
class Peer:
    """A live pod of a gang, with the gang's ConfigMap among its volumes. `instance_type` is that of its node; empty while unknown."""

    manifest: Manifest
    instance_type: str = ""

    name = declared(str, "metadata.name")
    uid = declared(str, "metadata.uid")
    address = declared(str, "status.podIP", "Empty until it is assigned.")
    node_name = declared(str, "spec.nodeName", "Empty until it is scheduled.")

    @property
    def uses_host_network(self) -> bool:
        """Whether it is in the network of its node."""
        return bool((self.manifest.get("spec") or {}).get("hostNetwork"))

    @property
    def gang_checks(self) -> list[str]:
        """The names of its checks that run across the gang: their containers mount the gang's ConfigMap."""
        containers = (self.manifest.get("spec") or {}).get("initContainers") or []
        names = [str(container.get("name") or "") for container in containers if _mounts_gang(container)]
        return [name.removeprefix(CHECK_PREFIX) for name in names if name.startswith(CHECK_PREFIX)]

    @lazy
    def passed_checks(self) -> list[str]:
        """Those of its gang checks that it has passed, as far as its status still tells."""
        passed = set(passed_containers(self.manifest, "state", "lastState"))
        return [check for check in self.gang_checks if CHECK_PREFIX + check in passed]

    def verdict_of(self, check: str) -> str:
        """Returns the line by which the ConfigMap says that this pod, at this node, has passed a check with its gang; empty without a node.

        No other pod has its UID, whatever its name, and a pod never changes its node.
        """
        return f"{check} {self.uid} {self.node_name}" if self.uid and self.node_name else ""

    @property
    def is_leaving(self) -> bool:
        """Whether it is being deleted."""
        return is_terminating(self.manifest)

    @property
    def has_ended(self) -> bool:
        """Whether it has run to completion, successfully or not."""
        return is_finished(self.manifest)


@record(slots=False)
class FormingGang:
    """A gang and its live pods. `name` is the name of its ConfigMap, `label` the value of the gang label of its pods and ConfigMap.

    `reference` is the gang as its pods refer to it; none without pods. `recorded` are the verdicts that the ConfigMap has, a line each.
    `is_closed` tells that no pod joins it any more: by the values as they are now, such pods would not get its checks.
    """

    namespace: str
    name: str
    label: str
    pods: list[Peer]
    reference: GangReference | None
    decisions: DecisionRules
    recorded: str = ""
    is_closed: bool = False

    @property
    def id(self) -> str:
        """The gang's id in the results of its checks; empty without a reference."""
        return self.reference.id if self.reference is not None else ""

    @lazy
    def peers(self) -> list[Peer]:
        """The registered pods, by the rule `is_registered`, sorted by name. A pod's position is its rank."""
        registered = self.decisions.of(PeerDecisions).is_registered
        return sorted((pod for pod in self.pods if registered(pod)), key=lambda pod: pod.name)

    @property
    def peer_lines(self) -> str:
        """Its peers in the format of the ConfigMap: one line `pod:address` for each."""
        return "".join(f"{pod.name}:{pod.address}\n" for pod in self.peers)

    @property
    def master_port(self) -> str:
        """The port at which its first pod listens, if that is in the network of its node, where two gangs may meet; else empty."""
        if not self.peers or not self.peers[0].uses_host_network:
            return ""
        return str(HOST_PORTS[crc32(f"{self.namespace}/{self.name}".encode()) % len(HOST_PORTS)])

    @property
    def instance_type_lines(self) -> str:
        """The instance types of its peers' nodes in the format of the ConfigMap: one line `pod:type` for each that is known."""
        return "".join(f"{pod.name}:{pod.instance_type}\n" for pod in self.peers if pod.instance_type)

    @property
    def verdict_lines(self) -> str:
        """The verdicts of its pods in the format of the ConfigMap: one line `check uid node` for each check that a pod has passed.

        What is recorded stays as long as its pod: a pod that has lost its sandbox runs its checks again, and its status forgets the rest.
        """
        recorded = set(self.recorded.splitlines())
        verdicts = ((pod.verdict_of(check), check in pod.passed_checks) for pod in self.pods for check in pod.gang_checks)
        return "".join(f"{verdict}\n" for verdict in sorted({text for text, passed in verdicts if text and (passed or text in recorded)}))

    @lazy
    def expected(self) -> int:
        """How many pods have to register: the gang's size, or the pods for which `is_expected` holds if they are more; 0 while unknown.

        Of a gang that is closed, all that are left have to.
        """
        if self.is_closed:
            return sum(not pod.is_leaving and not pod.has_ended for pod in self.pods)
        size = self.reference.size if self.reference is not None else 0
        expected = self.decisions.of(PeerDecisions).is_expected
        return max(size, sum(map(expected, self.pods))) if size else 0

    @property
    def problem(self) -> str:
        """Why nobody can say how many pods it has; empty if somebody can, or may yet."""
        return self.reference.size_problem if self.reference is not None and not self.expected else ""

    @lazy
    def owners(self) -> list[dict[str, Any]]:
        """The owner references of its ConfigMap: the gang's object if there is one, else its remaining pods, else all its pods."""
        group = self.reference.manifest if self.reference is not None else {}
        uid = (group.get("metadata") or {}).get("uid")
        if self.reference is not None and uid:
            owner = self.reference.object
            version = str(group.get("apiVersion") or owner.api_version)  # the served version may be newer than the requested one
            return [{"apiVersion": version, "kind": owner.kind, "name": owner.name, "uid": uid}]
        remaining = [pod for pod in self.pods if not pod.is_leaving] or self.pods
        pods = sorted(remaining, key=lambda pod: pod.name)
        return [{"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid} for pod in pods if pod.uid]


def _mounts_gang(container: Manifest) -> bool:
    return any(mount.get("name") == VOLUME for mount in container.get("volumeMounts") or [])


class PeerDecisions(Protocol):
    @staticmethod
    def is_registered(pod: Peer) -> bool:
        """Decides whether a pod is among the peers of its gang."""

    @staticmethod
    def is_expected(pod: Peer) -> bool:
        """Decides whether a gang waits for a pod, even if its size is smaller."""
