"""The worked example of shipped semantics §3.13, to the letter, and its objects as §13 draws them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from grove_cli import rulebook
from grove_compiler import compile as compiler
from grove_compiler.graph.node import Node
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from tests.suite.rows import rows

Manifest = dict[str, Any]
Table = dict[str, list[str]]


def template(name: str, replicas: int, **spec: Any) -> Manifest:
    pod_spec = {"containers": [{"name": "main", "image": "busybox"}]}
    return {"name": name, "spec": {"roleName": name, "replicas": replicas, "podSpec": pod_spec, **spec}}


MODEL = {"name": "model", "cliqueNames": ["prefill", "decode"], "replicas": 3, "minAvailable": 1, "scaleConfig": {"maxReplicas": 6}}
EXAMPLE: Manifest = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {"name": "demo", "namespace": "default"},
    "spec": {
        "replicas": 2,
        "template": {
            "cliqueStartupType": "CliqueStartupTypeInOrder",
            "cliques": [template("router", 2, autoScalingConfig={"maxReplicas": 4}), template("prefill", 1), template("decode", 2)],
            "podCliqueScalingGroups": [MODEL],
        },
    },
}


@cache
def nodes(pods: bool = True) -> list[Node]:
    program = rulebook.read().program(compiler.VOCABULARY)
    result = compiler.compile(compiler.Inputs([Document(EXAMPLE)], settings=Settings(pods=pods)), program)
    assert [finding.message for finding in result.diagnostics if finding.severity == "error"] == []
    return result.graph.nodes


def of_kind(kind: str, pods: bool = True) -> dict[str, Manifest]:
    """The objects of a kind by name; Pods by hostname."""
    found = [node.object for node in nodes(pods) if node.object["kind"] == kind]
    return {one["spec"]["hostname"] if kind == "Pod" else one["metadata"]["name"]: one for one in found}


def owner_of(manifest: Manifest) -> str:
    (reference,) = manifest["metadata"]["ownerReferences"]
    assert (reference["controller"], reference["blockOwnerDeletion"]) == (True, True)
    return f"{reference['apiVersion']} {reference['kind']} {reference['name']}"


MEMBERS = [f"demo-{r}-model-{g}-{name}" for r in (0, 1) for g in (0, 1, 2) for name in ("prefill", "decode")]
NAMES: Table = {
    "ServiceAccount": ["demo"],
    "Role": ["grove.io:pcs:demo"],
    "RoleBinding": ["grove.io:pcs:demo"],
    "Secret": ["demo-ic-sat"],
    "Service": ["demo-0", "demo-1"],
    "HorizontalPodAutoscaler": ["demo-0-model", "demo-0-router", "demo-1-model", "demo-1-router"],
    "PodCliqueScalingGroup": ["demo-0-model", "demo-1-model"],
    "PodClique": ["demo-0-router", "demo-1-router", *MEMBERS],
    "PodGang": ["demo-0", "demo-0-model-0", "demo-0-model-1", "demo-1", "demo-1-model-0", "demo-1-model-1"],
}


@rows("kind", NAMES)
def test_exactly_the_objects_of_the_table_are_made(kind: str) -> None:
    assert sorted(of_kind(kind)) == sorted(NAMES[kind])


def test_no_other_kinds_are_made() -> None:
    assert {node.object["kind"] for node in nodes(pods=False)} == set(NAMES)
    assert {node.object["kind"] for node in nodes()} == {*NAMES, "Pod"}


def test_there_are_eleven_pods_in_each_replica() -> None:
    expected = [f"demo-{r}-router-{index}" for r in (0, 1) for index in (0, 1)]
    expected += [f"{name}-{index}" for name in MEMBERS for index in range(2 if name.endswith("decode") else 1)]
    assert sorted(of_kind("Pod")) == sorted(expected)
    assert len(expected) == 22


def test_the_autoscalers_scale_between_the_right_numbers() -> None:
    found = {name: (one["spec"]["minReplicas"], one["spec"]["maxReplicas"]) for name, one in of_kind("HorizontalPodAutoscaler").items()}
    assert found == {"demo-0-router": (2, 4), "demo-1-router": (2, 4), "demo-0-model": (3, 6), "demo-1-model": (3, 6)}


def test_the_autoscalers_name_their_targets() -> None:
    found = of_kind("HorizontalPodAutoscaler")
    assert found["demo-1-router"]["spec"]["scaleTargetRef"] == {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "name": "demo-1-router",
    }
    assert found["demo-1-model"]["spec"]["scaleTargetRef"]["kind"] == "PodCliqueScalingGroup"


GANGS: dict[str, list[tuple[str, int]]] = {
    "demo-0": [("demo-0-router", 2), ("demo-0-model-0-prefill", 1), ("demo-0-model-0-decode", 2)],
    "demo-0-model-0": [("demo-0-model-1-prefill", 1), ("demo-0-model-1-decode", 2)],
    "demo-0-model-1": [("demo-0-model-2-prefill", 1), ("demo-0-model-2-decode", 2)],
}


@pytest.mark.parametrize("name", GANGS)
def test_the_gangs_hold_the_right_groups(name: str) -> None:
    groups = of_kind("PodGang", pods=False)[name]["spec"]["podgroups"]
    assert groups == [{"name": group, "minReplicas": least, "podReferences": []} for group, least in GANGS[name]]


def test_gangs_name_all_their_pods_once_these_are_made() -> None:
    pods = of_kind("Pod").values()
    for gang in of_kind("PodGang").values():
        for group in gang["spec"]["podgroups"]:
            members = [pod for pod in pods if pod["metadata"]["labels"]["grove.io/podclique"] == group["name"]]
            names = sorted(pod["metadata"]["name"] for pod in members)
            assert group["podReferences"] == [{"namespace": "default", "name": name} for name in names]
            assert {pod["metadata"]["labels"]["grove.io/podgang"] for pod in members} == {gang["metadata"]["name"]}


def test_a_gang_is_drawn_as_in_section_13() -> None:
    gang = of_kind("PodGang", pods=False)["demo-0"]
    assert gang["metadata"]["labels"] == {
        "app.kubernetes.io/component": "podgang",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "demo",
        "grove.io/scheduler-name": "default-scheduler",
    }
    assert owner_of(gang) == "grove.io/v1alpha1 PodCliqueSet demo"
    assert gang["spec"].keys() == {"podgroups"}


WAITS = {
    "demo-0-router": None,
    "demo-0-model-0-prefill": ["demo-0-router"],
    "demo-0-model-0-decode": ["demo-0-model-0-prefill"],
    "demo-0-model-1-prefill": None,
    "demo-0-model-1-decode": ["demo-0-model-1-prefill"],
}


@pytest.mark.parametrize("name", WAITS)
def test_cliques_start_in_order(name: str) -> None:
    assert of_kind("PodClique")[name]["spec"].get("startsAfter") == WAITS[name]


WAITING = {
    "demo-0-router-0": None,
    "demo-0-model-0-prefill-0": ["--podcliques=demo-0-router:2"],
    "demo-0-model-0-decode-1": ["--podcliques=demo-0-model-0-prefill:1"],
    "demo-0-model-1-prefill-0": None,
    "demo-0-model-1-decode-0": ["--podcliques=demo-0-model-1-prefill:1"],
}


@pytest.mark.parametrize("hostname", WAITING)
def test_pods_wait_in_an_init_container(hostname: str) -> None:
    containers = of_kind("Pod")[hostname]["spec"].get("initContainers")
    assert (containers and containers[0]["args"]) == WAITING[hostname]


FROM_LABEL = "metadata.labels['grove.io/podcliquescalinggroup{}']"
GROUP_VARIABLES = [
    {"name": "GROVE_PCSG_NAME", "valueFrom": {"fieldRef": {"fieldPath": FROM_LABEL.format("")}}},
    {"name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": "3"},
    {"name": "GROVE_PCSG_INDEX", "valueFrom": {"fieldRef": {"fieldPath": FROM_LABEL.format("-replica-index")}}},
]
CLIQUE_LABELS = {
    "app.kubernetes.io/component": "pcsg-podclique",
    "app.kubernetes.io/managed-by": "grove-operator",
    "app.kubernetes.io/name": "demo-0-model-1-decode",
    "app.kubernetes.io/part-of": "demo",
    "grove.io/base-podgang": "demo-0",
    "grove.io/podcliquescalinggroup": "demo-0-model",
    "grove.io/podcliquescalinggroup-replica-index": "1",
    "grove.io/podcliqueset-replica-index": "0",
    "grove.io/podgang": "demo-0-model-0",
}


def without_hash(labels: dict[str, str]) -> dict[str, str]:
    assert labels["grove.io/pod-template-hash"]
    return {key: value for key, value in labels.items() if key != "grove.io/pod-template-hash"}


def test_a_clique_of_a_scaled_gang_is_drawn_as_in_section_13() -> None:
    found = of_kind("PodClique")["demo-0-model-1-decode"]
    assert without_hash(found["metadata"]["labels"]) == CLIQUE_LABELS
    assert found["metadata"]["finalizers"] == ["grove.io/podclique.grove.io"]
    assert owner_of(found) == "grove.io/v1alpha1 PodCliqueScalingGroup demo-0-model"
    assert "annotations" not in found["metadata"]
    assert found["spec"] == {
        "roleName": "decode",
        "replicas": 2,
        "minAvailable": 2,
        "startsAfter": ["demo-0-model-1-prefill"],
        "podSpec": {
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "containers": [{"name": "main", "image": "busybox", "env": GROUP_VARIABLES}],
        },
    }


def test_a_standalone_clique_knows_of_no_scaling_group() -> None:
    found = of_kind("PodClique")["demo-1-router"]
    assert without_hash(found["metadata"]["labels"]) == {
        "app.kubernetes.io/component": "pcs-podclique",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/name": "demo-1-router",
        "app.kubernetes.io/part-of": "demo",
        "grove.io/podcliqueset-replica-index": "1",
        "grove.io/podgang": "demo-1",
    }
    assert owner_of(found) == "grove.io/v1alpha1 PodCliqueSet demo"
    assert found["spec"]["podSpec"]["containers"] == [{"name": "main", "image": "busybox"}]
    assert found["spec"]["autoScalingConfig"] == {"minReplicas": 2, "maxReplicas": 4}


def test_a_scaling_group_is_drawn_as_in_section_13() -> None:
    found = of_kind("PodCliqueScalingGroup")["demo-0-model"]
    assert found["metadata"]["labels"] == {
        "app.kubernetes.io/component": "pcs-podcliquescalinggroup",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/name": "demo-0-model",
        "app.kubernetes.io/part-of": "demo",
        "grove.io/podcliqueset-replica-index": "0",
    }
    assert found["metadata"]["finalizers"] == ["grove.io/podcliquescalinggroup.grove.io"]
    assert owner_of(found) == "grove.io/v1alpha1 PodCliqueSet demo"
    assert found["spec"] == {"replicas": 3, "minAvailable": 1, "cliqueNames": ["prefill", "decode"]}


def test_a_pod_of_a_scaled_gang_is_drawn_as_in_section_13() -> None:
    found = of_kind("Pod")["demo-0-model-1-decode-1"]
    labels = {"grove.io/podclique": "demo-0-model-1-decode", "grove.io/podclique-pod-index": "1"}
    assert without_hash(found["metadata"]["labels"]) == CLIQUE_LABELS | labels
    assert owner_of(found) == "grove.io/v1alpha1 PodClique demo-0-model-1-decode"
    (init,) = found["spec"].pop("initContainers")
    assert init.pop("image").startswith("grove-initc:v")
    # Ours on purpose (docs/differences.md): what quotas and the Pod Security Standard `restricted` ask for.
    ours = {key: sorted(init.pop(key)) for key in ("resources", "securityContext")}
    assert ours == {
        "resources": ["limits", "requests"],
        "securityContext": ["allowPrivilegeEscalation", "capabilities", "readOnlyRootFilesystem", "runAsNonRoot", "seccompProfile"],
    }
    assert init == {
        "name": "grove-initc",
        "args": ["--podcliques=demo-0-model-1-prefill:1"],
        "volumeMounts": [
            {"name": "pod-info-vol", "readOnly": True, "mountPath": "/var/grove/pod-info"},
            {"name": "sa-token-secret-vol", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"},
        ],
    }
    pod_index = {"fieldRef": {"fieldPath": "metadata.labels['grove.io/podclique-pod-index']"}}
    variables = [
        {"name": "GROVE_PCS_NAME", "value": "demo"},
        {"name": "GROVE_PCS_INDEX", "value": "0"},
        {"name": "GROVE_PCLQ_NAME", "value": "demo-0-model-1-decode"},
        {"name": "GROVE_HEADLESS_SERVICE", "value": "demo-0.default.svc.cluster.local"},
        {"name": "GROVE_PCLQ_POD_INDEX", "valueFrom": pod_index},
        *GROUP_VARIABLES,
    ]
    items = [
        {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}},
        {"path": "podgangname", "fieldRef": {"fieldPath": "metadata.labels['grove.io/podgang']"}},
    ]
    assert found["spec"] == {
        "schedulerName": "default-scheduler",
        "schedulingGates": [{"name": "grove.io/podgang-pending-creation"}],
        "hostname": "demo-0-model-1-decode-1",
        "subdomain": "demo-0",
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "containers": [{"name": "main", "image": "busybox", "env": variables}],
        "volumes": [
            {"name": "sa-token-secret-vol", "secret": {"secretName": "demo-ic-sat", "defaultMode": 420}},
            {"name": "pod-info-vol", "downwardAPI": {"items": items}},
        ],
    }


BEFORE = [
    ("ServiceAccount", "Secret"),
    ("Role", "RoleBinding"),
    ("Secret", "PodClique"),
    ("Service", "PodClique"),
    ("PodCliqueScalingGroup", "PodGang"),
    ("PodGang", "Pod"),
]


@rows(("first", "then"), BEFORE)
def test_what_others_need_comes_before_them(first: str, then: str) -> None:
    kinds = [node.object["kind"] for node in nodes()]
    assert max(place for place, kind in enumerate(kinds) if kind == first) < kinds.index(then)


def test_numbers_that_autoscalers_own_are_yielded() -> None:
    yielding = {node.object["kind"] for node in nodes() if "/spec/replicas" in node.policy.get("yield", [])}
    assert yielding == {"PodClique", "PodCliqueScalingGroup"}


def test_what_is_never_corrected_is_only_created() -> None:
    created = {node.object["kind"] for node in nodes() if node.policy.get("create") == "only"}
    assert created == {"Secret", "Pod"}
