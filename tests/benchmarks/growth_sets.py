"""Legal sets that are large in one dimension each, for `tests.benchmarks.growth`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Manifest = dict[str, Any]

CONFIG = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
TOPOLOGY = {
    **CONFIG,
    "topologyAwareScheduling": {
        "enabled": True,
        "levels": [{"domain": "zone", "key": "zone"}, {"domain": "host", "key": "kubernetes.io/hostname"}],
    },
    "scheduler": {"profiles": [{"name": "kai-scheduler"}], "defaultProfileName": "kai-scheduler"},
}
NETWORK = {**CONFIG, "network": {"autoMNNVLEnabled": True}}


def pcs(template: Manifest, **spec: Any) -> Manifest:
    """A set of this template."""
    head = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "big", "namespace": "team"}}
    return {**head, "spec": {"replicas": 1, "template": template, **spec}}


def clique(name: str, pod: Manifest | None = None, outer: Manifest | None = None, **spec: Any) -> Manifest:
    """A clique of one pod."""
    pod = pod or {"containers": [container(0)]}
    return {"name": name, **(outer or {}), "spec": {"roleName": name, "replicas": 1, "podSpec": pod, **spec}}


def container(index: int, **fields: Any) -> Manifest:
    return {"name": f"c{index}", "image": "engine:1", **fields}


def one_pod(**pod: Any) -> Manifest:
    """A set of one clique with this pod."""
    return pcs({"cliques": [clique("worker", {"containers": [container(0)], **pod})]})


def many_cliques(count: int, *, outer: Callable[[int], Manifest] = lambda _: {}, **spec: Callable[[int], Any]) -> list[Manifest]:
    """So many cliques, with fields that depend on their number."""
    return [clique(f"c{index}", None, outer(index), **{key: value(index) for key, value in spec.items()}) for index in range(count)]


def empty_dirs(count: int) -> list[Manifest]:
    return [{"name": f"v{index}", "emptyDir": {}} for index in range(count)]


def claim_volumes(count: int) -> list[Manifest]:
    return [{"name": f"v{index}", "persistentVolumeClaim": {"claimName": "data"}} for index in range(count)]


def mounts_of_many_containers(count: int) -> Manifest:
    side = max(1, int(count**0.5))
    mounts = [[{"name": f"v{(row * side + column) % count}", "mountPath": f"/m/{column}"} for column in range(side)] for row in range(side)]
    return one_pod(containers=[container(row, volumeMounts=mounts[row]) for row in range(side)], volumes=empty_dirs(count))


def devices_and_mounts(count: int) -> Manifest:
    half = count // 2
    devices = [{"name": f"v{index}", "devicePath": f"/dev/{index}"} for index in range(half)]
    mounts = [{"name": f"v{index}", "mountPath": f"/m/{index}"} for index in range(half, count)]
    return one_pod(containers=[container(0, volumeDevices=devices, volumeMounts=mounts)], volumes=claim_volumes(count))


def claims_of_many_containers(count: int) -> Manifest:
    claims = [{"name": f"r{index}", "resourceClaimTemplateName": "gpus"} for index in range(count)]
    users = [container(index, resources={"claims": [{"name": f"r{index}"}]}) for index in range(count)]
    return one_pod(containers=users, resourceClaims=claims)


def host_ports(count: int) -> Manifest:
    ports = [{"name": f"p{index}", "containerPort": 1 + index, "hostPort": 1 + index} for index in range(count)]
    return one_pod(containers=[container(0, ports=ports)])


def variables(count: int) -> Manifest:
    return one_pod(containers=[container(0, env=[{"name": f"E{index}", "value": f"$(E{index - 1}) and more"} for index in range(count)])])


def variables_from_files(count: int) -> Manifest:
    env = [{"name": f"E{i}", "valueFrom": {"fileKeyRef": {"volumeName": f"v{i}", "path": "a", "key": "k"}}} for i in range(count)]
    return one_pod(containers=[container(0, env=env)], volumes=empty_dirs(count))


def projected_files(count: int) -> Manifest:
    sources = [{"configMap": {"name": "files", "items": [{"key": f"k{index}", "path": f"p{index}"}]}} for index in range(count)]
    return one_pod(volumes=[{"name": "all", "projected": {"sources": sources}}])


def sysctls(count: int) -> Manifest:
    return one_pod(securityContext={"sysctls": [{"name": f"net.ipv4.x{index}", "value": "1"} for index in range(count)]})


def tolerations(count: int) -> Manifest:
    return one_pod(tolerations=[{"key": f"example.com/k{index}", "operator": "Exists", "effect": "NoSchedule"} for index in range(count)])


def node_terms(count: int) -> Manifest:
    terms = [{"matchExpressions": [{"key": f"k{index}", "operator": "In", "values": ["a", "b"]}]} for index in range(count)]
    return one_pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}})


def pod_terms(count: int) -> Manifest:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["example.com/run"]}
    terms = [{**term, "namespaces": [f"n{index}"]} for index in range(count)]
    return one_pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})


def pod_terms_of_many_cliques(count: int) -> Manifest:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["example.com/run"]}
    pod = {"containers": [container(0)], "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    return pcs({"cliques": [clique(f"c{index}", pod) for index in range(count)]})


def labels_and_annotations(count: int) -> Manifest:
    words = {f"example.com/l{index}": "v" for index in range(count)}
    return pcs({"cliques": [clique("worker", None, {"labels": words, "annotations": words})]})


def cliques_in_groups_of_one(count: int) -> Manifest:
    groups = [{"name": f"g{index}", "cliqueNames": [f"c{index}"], "replicas": 1, "minAvailable": 1} for index in range(count)]
    return pcs({"cliques": many_cliques(count), "podCliqueScalingGroups": groups})


def cliques_with_numbers_as_names(count: int) -> Manifest:
    return pcs({"cliques": [clique(str(index)) for index in range(count)]})


def cliques_in_one_group(count: int) -> Manifest:
    group = {"name": "g", "cliqueNames": [f"c{index}" for index in range(count)], "replicas": 2, "minAvailable": 1}
    return pcs({"cliques": many_cliques(count), "podCliqueScalingGroups": [group]})


def a_chain(count: int) -> Manifest:
    cliques = many_cliques(count, startsAfter=lambda index: [f"c{index - 1}"] if index else [])
    return pcs({"cliqueStartupType": "CliqueStartupTypeExplicit", "cliques": cliques})


def all_after_all_before(count: int) -> Manifest:
    side = max(2, int(count**0.5))
    cliques = many_cliques(side, startsAfter=lambda index: [f"c{before}" for before in range(index)])
    return pcs({"cliqueStartupType": "CliqueStartupTypeExplicit", "cliques": cliques})


def in_order(count: int) -> Manifest:
    return pcs({"cliqueStartupType": "CliqueStartupTypeInOrder", "cliques": many_cliques(count)})


def claim_template(name: str) -> Manifest:
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]
    return {"name": name, "templateSpec": {"spec": {"devices": {"requests": requests}}}}


def shared_claims(count: int) -> Manifest:
    names = [f"t{index}" for index in range(count)]
    shared = [{"name": name, "scope": "AllReplicas"} for name in names]
    return pcs({"cliques": [clique("worker")], "resourceClaimTemplates": list(map(claim_template, names)), "resourceSharing": shared})


def claims_shared_by_each_clique(count: int) -> Manifest:
    cliques = many_cliques(count, outer=lambda index: {"resourceSharing": [{"name": f"t{index}", "scope": "AllReplicas"}]})
    return pcs({"cliques": cliques, "resourceClaimTemplates": [claim_template(f"t{index}") for index in range(count)]})


def claims_shared_by_filters(count: int) -> Manifest:
    """As many references in a group as it has cliques, and each is for one of these."""
    names = [f"t{index}" for index in range(count // 2)]
    refs = [{"name": name, "scope": "AllReplicas", "filter": {"childCliqueNames": [f"c{index}"]}} for index, name in enumerate(names)]
    group = {"name": "g", "cliqueNames": [f"c{index}" for index in range(count // 2)], "replicas": 1, "minAvailable": 1}
    groups = [{**group, "resourceSharing": refs}]
    cliques, templates = many_cliques(count // 2), list(map(claim_template, names))
    return pcs({"cliques": cliques, "resourceClaimTemplates": templates, "podCliqueScalingGroups": groups})


def failure_rules(count: int) -> Manifest:
    rules = [{"action": "Ignore", "exitCodes": [1 + index % 255], "clique": f"c{index}"} for index in range(count)]
    spec = {"maxRestarts": 1, "failureRules": rules, "successCliques": [f"c{index}" for index in range(count)]}
    return pcs({"cliques": many_cliques(count)}, workloadType="Training", trainingSpec=spec)


def packed_cliques(count: int) -> Manifest:
    cliques = many_cliques(count, outer=lambda _: {"topologyConstraint": {"packDomain": "host"}})
    packed = pcs({"topologyConstraint": {"packDomain": "zone"}, "cliques": cliques})
    packed["metadata"]["labels"] = {"kai.scheduler/queue": "team"}
    return packed


def gpu_pod() -> Manifest:
    return {"containers": [container(0, resources={"limits": {"nvidia.com/gpu": "8"}})]}


def nvlink_groups(count: int) -> Manifest:
    annotated = [clique(f"c{index}", gpu_pod(), {"annotations": {"grove.io/mnnvl-group": f"g{index}"}}) for index in range(count)]
    return pcs({"cliques": annotated})


def nvlink_annotations(count: int) -> Manifest:
    annotated = pcs({"cliques": [clique(f"c{index}", gpu_pod()) for index in range(count)]})
    annotated["metadata"]["annotations"] = {"grove.io/mnnvl-enabled": "true"}
    return annotated


def autoscaled_cliques(count: int) -> Manifest:
    pod = {"containers": [container(0, resources={"requests": {"cpu": "1"}})]}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
    scaling = {"maxReplicas": 5, "metrics": [metric]}
    return pcs({"cliques": [clique(f"c{index}", pod, autoScalingConfig=scaling) for index in range(count)]})


def init_containers(count: int) -> Manifest:
    return one_pod(initContainers=[container(index + 1) for index in range(count)])


def containers_of_both_kinds(count: int) -> Manifest:
    half = count // 2
    return one_pod(
        containers=[container(index) for index in range(half)], initContainers=[container(half + index) for index in range(half)]
    )


def domain_claim_of_their_own(count: int) -> Manifest:
    """Pods that declare many claims, one of them with the name of a domain's, which each container uses."""
    claims = [{"name": name, "resourceClaimTemplateName": "gpus"} for name in ("mnnvl", *(f"r{index}" for index in range(count - 1)))]
    return one_pod(
        containers=[container(index, resources={"claims": [{"name": "mnnvl"}]}) for index in range(count)], resourceClaims=claims
    )


def nvlink_gangs(count: int) -> Manifest:
    """Scaling groups whose replicas are gangs of their own, and a constraint that does not hold across these."""
    words = {"grove.io/mnnvl-enabled": "true", "grove.io/mnnvl-scope": "scalingGroupReplica"}
    groups = [{"name": f"g{i}", "cliqueNames": [f"c{i}"], "replicas": 2, "minAvailable": 1, "annotations": words} for i in range(count)]
    gangs = pcs({"cliques": [clique(f"c{i}", gpu_pod()) for i in range(count)], "podCliqueScalingGroups": groups})
    gangs["spec"]["template"]["topologyConstraint"] = {"packDomain": "zone"}
    gangs["metadata"]["labels"] = {"kai.scheduler/queue": "team"}
    return gangs


def containers(count: int) -> Manifest:
    return one_pod(containers=[container(index) for index in range(count)])


DIMENSIONS: dict[str, Callable[[int], Manifest]] = {
    function.__name__.replace("_", " "): function
    for function in (
        mounts_of_many_containers, devices_and_mounts, claims_of_many_containers, host_ports, variables, variables_from_files,
        projected_files, sysctls, tolerations, node_terms, pod_terms, pod_terms_of_many_cliques, labels_and_annotations, containers,
        containers_of_both_kinds, domain_claim_of_their_own, init_containers, cliques_in_groups_of_one, cliques_in_one_group,
        a_chain, all_after_all_before, in_order, shared_claims, claims_shared_by_each_clique, claims_shared_by_filters,
        cliques_with_numbers_as_names, failure_rules, packed_cliques, nvlink_groups, nvlink_annotations, nvlink_gangs,
        autoscaled_cliques,
    )
}  # fmt: skip


def inputs_of(name: str) -> tuple[Manifest | None, list[Manifest]]:
    """The configuration and the other objects that the sets of a dimension need."""
    if name in ("packed cliques", "nvlink gangs"):
        return TOPOLOGY, []
    return (NETWORK, []) if name.startswith("nvlink") else (None, [])
