"""Computes the ConfigMap through which the pods of a gang discover each other (ADR-026, Gang Coordination); pure, like a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectReader, Snapshot, is_finished
from grove_compiler.model.preflight.forming_gang import VOLUME, FormingGang, Peer
from grove_compiler.model.preflight.gang import LABEL, PREFIX
from grove_compiler.model.preflight.placement import node_instance_type
from grove_compiler.model.preflight.pod import CheckedPod
from grove_compiler.model.preflight.values import Preflight
from kube_objects.manifest import is_terminating

SUBJECT = "PreflightGang"


class GangKey(NamedTuple):
    """Identifies a gang in a cluster: `label` is the value of the gang label of its pods, `name` the name of its ConfigMap."""

    namespace: str
    label: str
    name: str


class ForeignName(Exception):
    """Reports a rule that generates anything but a gang's ConfigMap."""


def key_of(pod: Manifest) -> GangKey | None:
    """Returns the key of the gang whose ConfigMap a pod mounts; none if it mounts none."""
    metadata = pod.get("metadata") or {}
    label = (metadata.get("labels") or {}).get(LABEL)
    volumes = (pod.get("spec") or {}).get("volumes") or []
    name = next(((volume.get("configMap") or {}).get("name") for volume in volumes if volume.get("name") == VOLUME), None)
    return GangKey(metadata.get("namespace") or "", label, name) if label and name and name.startswith(PREFIX) else None


def pods_of(key: GangKey, view: ObjectReader) -> list[Manifest]:
    """Returns the pods of a gang in the cluster."""
    return [pod for pod in view.by_label("", "Pod", LABEL, key.label, key.namespace) if key_of(pod) == key]


def forming_gang(key: GangKey, view: ObjectReader, preflight: Preflight, decisions: DecisionRules) -> FormingGang:
    """Returns a gang with its pods in the cluster, which are none once it has ended."""
    pods = pods_of(key, view)
    snapshot = Snapshot(view=view)
    newest = CheckedPod(_newest(pods), key.namespace, preflight, snapshot, decisions) if pods else None
    reference = newest.gang if newest is not None else None
    is_closed = newest is not None and (reference is None or reference.config_map != key.name or not newest.suits_gang_check)
    peers = [Peer(pod, _instance_type(pod, preflight, snapshot)) for pod in pods]
    live = view.get("", "ConfigMap", key.namespace, key.name) or {}
    recorded = str((live.get("data") or {}).get("passed") or "")
    return FormingGang(key.namespace, key.name, key.label, peers, reference, decisions, recorded, is_closed)


def _instance_type(pod: Manifest, preflight: Preflight, snapshot: Snapshot) -> str:
    """Returns the instance type of a pod's node, if topology files are chosen by it; empty for a pod without a node."""
    node = (pod.get("spec") or {}).get("nodeName")
    return node_instance_type(str(node), preflight.instance_type_label, snapshot) if node and preflight.topology_files else ""


def _newest(pods: Sequence[Manifest]) -> Manifest:
    """Returns the newest running pod, else the newest one. Pods of an earlier gang of the same name may declare another size."""
    running = [pod for pod in pods if not is_terminating(pod) and not is_finished(pod)]
    return max(running or pods, key=lambda pod: (str(pod["metadata"].get("creationTimestamp") or ""), str(pod["metadata"].get("name"))))


def gang_objects(key: GangKey, view: ObjectReader, preflight: Preflight, program: Program) -> list[Node]:
    """Returns the ConfigMap of a gang while it has pods. Raises `ForeignName` and `RuleFailure`."""
    gang = forming_gang(key, view, preflight, DecisionRules(program.decisions))
    settings = Settings()
    scope = {"gang": gang, "preflight": preflight, "settings": settings, "config": Configuration({})}
    nodes = program.generate(scope, settings.max_objects, SUBJECT)
    for node in nodes:
        if node.object["kind"] != "ConfigMap" or not node.object["metadata"]["name"].startswith(PREFIX):
            raise ForeignName(f"the rule {node.rule} generates {node.id}; only ConfigMaps whose names begin with {PREFIX} are ever written")
    return nodes
