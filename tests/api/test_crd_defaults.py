"""Defaults of the schemas: shipped semantics §1.2 to §1.9 for our kinds, §6.1 for pod templates."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from grove_compiler.api.crd import crds
from tests.features.compiling import shipped_program
from tests.suite.rows import rows

from .structural_crd import nodes, schema_of


@cache
def made() -> dict[str, Any]:
    """Returns the CRDs by kind."""
    return {crd["spec"]["names"]["kind"]: crd for crd in crds()}


FOREIGN = (".podSpec", ".templateSpec")
COUNTS = dict.fromkeys(("readyReplicas", "updatedReplicas", "scheduleGatedReplicas", "scheduledReplicas"), 0)

OURS: dict[str, dict[str, Any]] = {
    "PodCliqueSet": {
        ".spec.replicas": 0,
        ".spec.workloadType": "Inference",
        ".spec.updateStrategy.type": "RollingRecreate",
        ".spec.template.cliqueStartupType": "CliqueStartupTypeAnyOrder",
        ".spec.template.headlessServiceConfig.publishNotReadyAddresses": True,
        ".spec.template.cliques[].spec.roleName": "",
        ".spec.template.podCliqueScalingGroups[].replicas": 1,
        ".status.updatedReplicas": 0,
        ".status.availableReplicas": 0,
        ".status.updateProgress.updatedPodCliquesCount": 0,
        ".status.updateProgress.totalPodCliquesCount": 0,
        ".status.updateProgress.updatedPodCliqueScalingGroupsCount": 0,
        ".status.updateProgress.totalPodCliqueScalingGroupsCount": 0,
    },
    "PodClique": {".spec.roleName": "", **{f".status.{name}": 0 for name in COUNTS}},
    "PodCliqueScalingGroup": {
        ".spec.replicas": 1,
        ".spec.minAvailable": 1,
        ".status.scheduledReplicas": 0,
        ".status.availableReplicas": 0,
        ".status.updatedReplicas": 0,
        ".status.updateProgress.updatedPodCliquesCount": 0,
        ".status.updateProgress.totalPodCliquesCount": 0,
    },
    "ClusterTopologyBinding": {},
    "ClusterTopology": {},
    "PodGang": {},
}


def defaults(kind: str) -> dict[str, Any]:
    return {path: node["default"] for path, node in nodes(schema_of(made()[kind])) if "default" in node}


@rows("kind", OURS)
def test_our_fields_have_these_defaults_and_no_others(kind: str) -> None:
    found = defaults(kind)
    assert {path: value for path, value in found.items() if not any(word in path for word in FOREIGN)} == OURS[kind]


def test_no_field_has_its_default_in_the_schema_and_in_a_rule_as_well() -> None:
    of_rules = {path_text(path) for rule in shipped_program().rules if rule.verb == "default" for path in rule.details["paths"]}
    assert ".spec.template.terminationDelay" in of_rules
    assert of_rules & defaults("PodCliqueSet").keys() == set()


def path_text(path: Any) -> str:
    return "".join("[]" if kind == "each" else f".{key[0]}" for kind, *key in path[0])


POD = {
    "containers[].ports[].protocol": "TCP",
    "initContainers[].ports[].protocol": "TCP",
    "containers[].livenessProbe.grpc.service": "",
    "containers[].readinessProbe.grpc.service": "",
    "containers[].startupProbe.grpc.service": "",
    "containers[].env[].valueFrom.secretKeyRef.name": "",
    "containers[].env[].valueFrom.configMapKeyRef.name": "",
    "containers[].env[].valueFrom.fileKeyRef.optional": False,
    "containers[].envFrom[].secretRef.name": "",
    "containers[].envFrom[].configMapRef.name": "",
    "imagePullSecrets[].name": "",
    "volumes[].configMap.name": "",
    "volumes[].projected.sources[].secret.name": "",
    "volumes[].projected.sources[].configMap.name": "",
    "volumes[].azureDisk.fsType": "ext4",
    "volumes[].azureDisk.readOnly": False,
    "volumes[].iscsi.iscsiInterface": "default",
    "volumes[].rbd.keyring": "/etc/ceph/keyring",
    "volumes[].rbd.pool": "rbd",
    "volumes[].rbd.user": "admin",
    "volumes[].scaleIO.fsType": "xfs",
    "volumes[].scaleIO.storageMode": "ThinProvisioned",
    "volumes[].csi.nodePublishSecretRef.name": "",
}


@rows(("path", "value"), POD.items(), ids=POD)
def test_pod_templates_have_the_defaults_of_shipped_crds(path: str, value: Any) -> None:
    assert defaults("PodClique")[f".spec.podSpec.{path}"] == value


def test_pods_own_defaults_are_left_to_the_api_server() -> None:
    template = {path.removeprefix(".spec.podSpec.") for path in defaults("PodClique") if ".podSpec." in path}
    assert template.isdisjoint({"dnsPolicy", "restartPolicy", "schedulerName", "terminationGracePeriodSeconds"})


def test_a_device_toleration_compares_for_equality() -> None:
    path = ".spec.template.resourceClaimTemplates[].templateSpec.spec.devices.requests[].exactly.tolerations[].operator"
    assert defaults("PodCliqueSet")[path] == "Equal"


SEED_ONLY = ("trainingSpec", "clusterTopologyName", "computeDomainConfig")


@pytest.mark.parametrize("field", SEED_ONLY)
def test_what_only_the_designs_have_has_no_default_so_that_shipped_sets_stay_as_they_are(field: str) -> None:
    assert not [path for path in defaults("PodCliqueSet") if field in path]
