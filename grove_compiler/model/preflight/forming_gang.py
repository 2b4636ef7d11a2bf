"""A gang whose checks are being brought together, as its pods in the cluster show it: rules call it `gang`."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.snapshot import is_finished, is_terminating
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.gang import GangReference
from grove_compiler.record import record


@record(slots=False)
class Peer:
    """A pod of a gang that exists, with the gang's ConfigMap among its volumes."""

    manifest: Manifest

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return str(self.manifest["metadata"].get("name") or "")

    @property
    def uid(self) -> str:
        """`metadata.uid`."""
        return str(self.manifest["metadata"].get("uid") or "")

    @property
    def address(self) -> str:
        """`status.podIP`; empty until it has one."""
        return str(status_of(self.manifest).get("podIP") or "")

    @property
    def node_name(self) -> str:
        """Where it is; empty until it is scheduled."""
        return str((self.manifest.get("spec") or {}).get("nodeName") or "")

    @property
    def is_leaving(self) -> bool:
        """Whether somebody has deleted it."""
        return is_terminating(self.manifest)

    @property
    def has_ended(self) -> bool:
        """Whether it has run to its end, well or badly."""
        return is_finished(self.manifest)


@record(slots=False)
class FormingGang:
    """A gang, its pods and what they name. `name` is that of its ConfigMap; `reference` is none where no pod says which gang it is.

    `label` is what its pods and its ConfigMap bear.
    """

    namespace: str
    name: str
    label: str
    pods: list[Peer]
    reference: GangReference | None
    decisions: DecisionRules

    @property
    def id(self) -> str:
        """The id that its pods' checks know it by; empty where no pod says it."""
        return self.reference.id if self.reference is not None else ""

    @lazy
    def peers(self) -> list[Peer]:
        """The pods that are registered, by the rule `is_registered`, in the order of their names: the position is the rank."""
        registered = self.decisions.of(is_registered)
        return sorted((pod for pod in self.pods if registered(pod)), key=lambda pod: pod.name)

    @property
    def peer_lines(self) -> str:
        """Its peers as checks read them: a line `pod:address` each."""
        return "".join(f"{pod.name}:{pod.address}\n" for pod in self.peers)

    @lazy
    def expected(self) -> int:
        """How many pods have to be there, and never fewer than are there or on their way; 0 while nobody knows."""
        size = self.reference.size if self.reference is not None else 0
        expected = self.decisions.of(is_expected)
        return max(size, sum(map(expected, self.pods))) if size else 0

    @lazy
    def owners(self) -> list[dict[str, Any]]:
        """What the ConfigMap disappears with: the object that stands for the gang, else those of its pods that stay, else all of them."""
        group = self.reference.manifest if self.reference is not None else {}
        uid = (group.get("metadata") or {}).get("uid")
        if self.reference is not None and uid:
            of: ObjectRef = self.reference.object
            version = str(group.get("apiVersion") or of.api_version)  # as it is served, which may be newer than what we ask for
            return [{"apiVersion": version, "kind": of.kind, "name": of.name, "uid": uid}]
        staying = [pod for pod in self.pods if not pod.is_leaving] or self.pods
        pods = sorted(staying, key=lambda pod: pod.name)
        return [{"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid} for pod in pods if pod.uid]


def is_registered(pod: Peer) -> bool:
    """Decides whether a pod counts among the peers of its gang."""
    raise NotImplementedError


def is_expected(pod: Peer) -> bool:
    """Decides whether a gang waits for a pod, however few pods it needs."""
    raise NotImplementedError
