"""What the structure of the input kinds accepts and refuses."""

from __future__ import annotations

from typing import Any

from tests.suite.rows import rows

from .manifests import SET, changed, faults, without

TEMPLATE = "spec.template"
GROUP = f"{TEMPLATE}.podCliqueScalingGroups[0]"
CLIQUE = f"{TEMPLATE}.cliques[0]"
CONDITION = {"type": "A", "status": "True", "reason": "B", "message": "", "lastTransitionTime": "2026-01-31T09:30:00Z"}

ACCEPTED = {
    "a topology of the designs": (f"{TEMPLATE}.clusterTopologyName", "gb200-topology"),
    "a domain of the designs": (f"{TEMPLATE}.topologyConstraint", {"packDomain": "rack"}),
    "a domain of shipped Grove": (f"{CLIQUE}.topologyConstraint", {"topologyName": "t", "pack": {"required": "rack", "preferred": "host"}}),
    "a domain for a scaling group": (f"{GROUP}.topologyConstraint", {"pack": {"preferred": "my-own-level"}}),
    "multi-node NVLink": (f"{TEMPLATE}.computeDomainConfig", {"enabled": True, "deviceClassName": "compute-domain.nvidia.com"}),
    "annotations of a scaling group": (f"{GROUP}.annotations", {"grove.io/mnnvl-enabled": "true"}),
    "annotations of a clique": (f"{CLIQUE}.annotations", {"grove.io/mnnvl-scope": "clique"}),
    "inference": ("spec.workloadType", "Inference"),
    "training": ("spec.trainingSpec", {"maxRuntime": "24h", "maxRestarts": 2}),
    "training without restarts": ("spec.trainingSpec", {"maxRestarts": 0}),
    "a delay of nothing": (f"{TEMPLATE}.terminationDelay", "0s"),
    "updates by hand": ("spec.updateStrategy", {"type": "OnDelete"}),
    "a strategy without a type": ("spec.updateStrategy", {}),
    "a start in order": (f"{TEMPLATE}.cliqueStartupType", "CliqueStartupTypeInOrder"),
    "claim templates": (
        f"{TEMPLATE}.resourceClaimTemplates",
        [{"name": "gpu", "templateSpec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}}}],
    ),
    "claims that the set shares": (
        f"{TEMPLATE}.resourceSharing",
        [{"name": "gpu", "scope": "AllReplicas", "filter": {"childCliqueNames": ["a"], "childScalingGroupNames": ["g"]}}],
    ),
    "claims that a group shares": (
        f"{GROUP}.resourceSharing",
        [{"name": "gpu", "namespace": "n", "scope": "PerReplica", "filter": {"childCliqueNames": ["a"]}}],
    ),
    "claims that a clique shares": (f"{CLIQUE}.resourceSharing", [{"name": "gpu", "scope": "PerReplica"}]),
    "autoscaling": (
        f"{CLIQUE}.spec.autoScalingConfig",
        {"maxReplicas": 5, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}]},
    ),
    "a new kind of metric": (f"{CLIQUE}.spec.autoScalingConfig", {"maxReplicas": 5, "metrics": [{"type": "Cosmic", "cosmic": {"a": 1}}]}),
    "a field of pods that we do not know": (f"{CLIQUE}.spec.podSpec.gravity", "low"),
    "a status of a training workload": (
        "status",
        {"phase": "Failed", "restartCount": 3, "startTime": "2026-01-31T09:30:00Z", "conditions": [CONDITION]},
    ),
    "null for what is optional": ("metadata.labels", None),
    "null for what has a default": ("spec.replicas", None),
    "the server's own metadata": ("metadata.managedFields", [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}]),
}


@rows(("path", "value"), ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(path: str, value: Any) -> None:
    assert faults(changed(SET, path, value)) == []


REFUSED = {
    "a field that nobody knows": ("spec.replica", 1),
    "a field at the wrong level": (f"{TEMPLATE}.workloadType", "Training"),
    "a field of another kind": (f"{CLIQUE}.scaleConfig", {"maxReplicas": 1}),
    "a filter on a clique": (f"{CLIQUE}.resourceSharing", [{"name": "a", "scope": "PerReplica", "filter": {}}]),
    "unknown metadata": ("metadata.label", {}),
    "a number in quotes": ("spec.replicas", "1"),
    "a fraction": ("spec.replicas", 1.5),
    "true for a number": ("spec.replicas", True),
    "more than 32 bits": ("spec.replicas", 2**31),
    "a number for a name": (f"{CLIQUE}.name", 1),
    "a word for a switch": (f"{TEMPLATE}.computeDomainConfig.enabled", "true"),
    "a number for a label": ("metadata.labels", {"a": 1}),
    "a map for a list": (f"{TEMPLATE}.cliques", {"a": 1}),
    "a list for a map": (f"{CLIQUE}.labels", ["a"]),
    "an unknown workload": ("spec.workloadType", "Batch"),
    "a workload in lower case": ("spec.workloadType", "training"),
    "an unknown strategy": ("spec.updateStrategy.type", "RollingUpdate"),
    "an unknown start": (f"{TEMPLATE}.cliqueStartupType", "InOrder"),
    "an unknown scope": (f"{CLIQUE}.resourceSharing", [{"name": "a", "scope": "Pod"}]),
    "an unknown phase": ("status.phase", "Done"),
    "a domain with a capital": (f"{TEMPLATE}.topologyConstraint.packDomain", "Rack"),
    "an empty domain": (f"{TEMPLATE}.topologyConstraint.pack.required", ""),
    "a domain of 64 letters": (f"{TEMPLATE}.topologyConstraint.pack.preferred", "a" * 64),
    "a duration without a unit": (f"{TEMPLATE}.terminationDelay", "30"),
    "a duration in days": ("spec.trainingSpec.maxRuntime", "1d"),
    "a duration that is a number": ("spec.trainingSpec.maxRuntime", 30),
    "fewer restarts than none": ("spec.trainingSpec.maxRestarts", -1),
    "a time that is none": ("status.startTime", "yesterday"),
    "a condition that is neither true nor false": ("status.conditions", [{**CONDITION, "status": "true"}]),
    "two conditions of a type": ("status.conditions", [CONDITION, CONDITION]),
}


@rows(("path", "value"), REFUSED.values(), ids=REFUSED)
def test_refused(path: str, value: Any) -> None:
    (fault,) = faults(changed(SET, path, value))
    assert fault.startswith(path)


REQUIRED = [
    *("metadata", "spec", "spec.template", "spec.template.cliques", f"{CLIQUE}.name", f"{CLIQUE}.spec", f"{CLIQUE}.spec.podSpec"),
    *(f"{CLIQUE}.spec.replicas", f"{GROUP}.name", f"{GROUP}.cliqueNames"),
]


@rows("path", REQUIRED)
def test_required(path: str) -> None:
    manifest = without(SET, path)
    assert faults(manifest) == [path]


@rows("path", REQUIRED)
def test_null_is_as_if_it_were_absent(path: str) -> None:
    manifest = changed(SET, path, None)
    assert faults(manifest) == [path]


def test_a_role_may_be_left_out_as_it_may_in_shipped_grove() -> None:
    manifest = without(SET, f"{CLIQUE}.spec.roleName")
    assert faults(manifest) == []


def test_two_cliques_of_a_name_are_refused() -> None:
    template = SET["spec"]["template"]  # type: ignore[index]
    manifest = changed(SET, f"{TEMPLATE}.cliques", template["cliques"] * 2)
    assert faults(manifest) == [f"{TEMPLATE}.cliques[1]"]


def test_an_unknown_field_is_told_with_the_nearest_known_one() -> None:
    from grove_compiler.kube.definitions import DEFINITIONS, KINDS
    from grove_compiler.kube.structure import check

    schema = KINDS["grove.io/v1alpha1", "PodCliqueSet"]
    ((_, finding),) = check(changed(SET, f"{TEMPLATE}.clusterTopology", "a"), schema, DEFINITIONS)
    assert finding.nearest == "clusterTopologyName"


TOPOLOGY: dict[str, Any] = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "ClusterTopology",
    "metadata": {"name": "t"},
    "spec": {"levels": [{"domain": "zone", "key": "topology.kubernetes.io/zone"}, {"domain": "host", "key": "kubernetes.io/hostname"}]},
}
BINDING = {**TOPOLOGY, "kind": "ClusterTopologyBinding"}
LEVELS = "spec.levels"


def test_a_binding_may_name_levels_as_it_likes_and_a_topology_may_not() -> None:
    path = "spec.levels[0].domain"
    assert faults(changed(BINDING, path, "nvl-domain")) == []
    assert faults(changed(TOPOLOGY, path, "nvl-domain")) == [path]


BAD_LEVELS = {
    "no level": (LEVELS, []),
    "a key with a space": ("spec.levels[0].key", "my zone"),
    "a key of 64 letters": ("spec.levels[0].key", "a" * 64),
    "an empty key": ("spec.levels[0].key", ""),
    "a domain with a capital": ("spec.levels[0].domain", "Zone"),
}


@rows("manifest", [TOPOLOGY, BINDING], ids=["ClusterTopology", "ClusterTopologyBinding"])
@rows(("path", "value"), BAD_LEVELS.values(), ids=BAD_LEVELS)
def test_levels_refused(manifest: dict[str, Any], path: str, value: Any) -> None:
    bad = changed(manifest, path, value)
    assert faults(bad) == [path]


def test_only_a_topology_is_limited_to_seven_levels() -> None:
    levels = [{"domain": "zone", "key": f"level-{number}"} for number in range(8)]
    assert faults(changed(TOPOLOGY, LEVELS, levels)) == [LEVELS]
    assert faults(changed(BINDING, LEVELS, levels)) == []
