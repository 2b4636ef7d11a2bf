"""What Kubernetes takes for the same, and what it does not."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.testing.control_plane import ControlPlane
from grove_compiler.graph.field_path import ABSENT, parse, render, replace
from grove_compiler.kube.semantic_difference import ANYTHING, differences, pod_template_differences
from tests.features.compiling import documents_of
from tests.kube.reversed_lists import reversed_lists
from tests.permitted import ANY_POD
from tests.suite.rows import rows

ROOT = Path(__file__).parents[2]

VALUES = st.recursive(
    st.booleans() | st.integers(0, 2) | st.text("ab", min_size=1, max_size=2),
    lambda part: st.lists(part, min_size=1, max_size=3) | st.dictionaries(st.sampled_from("abc"), part, min_size=1, max_size=3),
    max_leaves=8,
)

DIFFERENCES: dict[str, tuple[Any, Any, list[tuple[str, Any, Any]]]] = {
    "nothing": ({"a": [1]}, {"a": [1]}, []),
    "a field": ({"a": {"b": 1}}, {"a": {"b": 2}}, [("a.b", 1, 2)]),
    "a field that is gone": ({"a": 1, "b": 2}, {"b": 2}, [("a", 1, ABSENT)]),
    "a field that is new": ({}, {"a": {"b": 1}}, [("a", ABSENT, {"b": 1})]),
    "an item": ({"a": [1, 2]}, {"a": [1, 3]}, [("a[1]", 2, 3)]),
    "a list of another length": ({"a": [1, 2]}, {"a": [1]}, [("a", [1, 2], [1])]),
    "another type": ({"a": 1}, {"a": True}, [("a", 1, True)]),
    "the order of keys": ({"l": {"a": 1, "b": 2}}, {"l": {"b": 2, "a": 1}}, []),
    "the order of a list": ([1, 2], [2, 1], [("[0]", 1, 2), ("[1]", 2, 1)]),
    "null and nothing": ({"a": None, "b": []}, {"c": {}}, []),
}


@rows(("before", "after", "expected"), DIFFERENCES.values(), ids=DIFFERENCES.keys())
def test_differences_are_the_deepest_fields(before: Any, after: Any, expected: list[tuple[str, Any, Any]]) -> None:
    assert [(render(change.path), change.before, change.after) for change in differences(before, after, ANYTHING)] == expected


@given(VALUES, VALUES)
def test_all_differences_together_lead_from_one_value_to_the_other(before: Any, after: Any) -> None:
    value = copy.deepcopy(before)
    for change in differences(before, after, ANYTHING):
        value = replace(value, change.path, change.after)
    assert json.dumps(value, sort_keys=True) == json.dumps(after, sort_keys=True)


POD: dict[str, Any] = {
    "containers": [
        {
            "name": "main",
            "image": "train:1",
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            "ports": [{"containerPort": 80}],
            "readinessProbe": {"httpGet": {"port": 80}},
            "env": [
                {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            ],
            "volumeMounts": [{"name": "config", "mountPath": "/c"}],
        },
        {"name": "side", "image": "side"},
    ],
    "volumes": [{"name": "config", "configMap": {"name": "c"}}, {"name": "scratch", "emptyDir": {}}],
    "securityContext": {"fsGroup": 1},
    "serviceAccountName": "trainer",
    "tolerations": [{"key": "gpu", "value": "a"}],
}
MAIN = "spec.containers[0]"

SAME = {
    "a quantity as a number": (f"{MAIN}.resources.limits.cpu", 1),
    "a quantity in thousandths": (f"{MAIN}.resources.limits.cpu", "1000m"),
    "a quantity in bytes": (f"{MAIN}.resources.limits.memory", "1073741824"),
    "requests as limits": (f"{MAIN}.resources.requests", {"cpu": "1", "memory": "1024Mi"}),
    "the pull policy of a fixed tag": (f"{MAIN}.imagePullPolicy", "IfNotPresent"),
    "the pull policy of no tag": ("spec.containers[1].imagePullPolicy", "Always"),
    "the protocol of a port": (f"{MAIN}.ports[0].protocol", "TCP"),
    "no host port": (f"{MAIN}.ports[0].hostPort", 0),
    "how often a probe looks": (f"{MAIN}.readinessProbe.periodSeconds", 10),
    "zero where Go knows no nothing": (f"{MAIN}.readinessProbe.periodSeconds", 0),
    "the path of a probe": (f"{MAIN}.readinessProbe.httpGet.path", "/"),
    "where the last words go": (f"{MAIN}.terminationMessagePath", "/dev/termination-log"),
    "the version of a field": (f"{MAIN}.env[0].valueFrom.fieldRef.apiVersion", "v1"),
    "the mode of files": ("spec.volumes[0].configMap.defaultMode", 420),
    "no resources": ("spec.containers[1].resources", {}),
    "no arguments": ("spec.containers[1].args", []),
    "not on the host's network": ("spec.hostNetwork", False),
    "services in the environment": ("spec.enableServiceLinks", True),
    "the policy of DNS": ("spec.dnsPolicy", "ClusterFirst"),
    "an unset field": ("spec.nodeSelector", None),
    "no labels": ("metadata.labels", {}),
    "the deprecated name of the account": ("spec.serviceAccount", "trainer"),
    "no affinity": ("spec.affinity", {"nodeAffinity": {}, "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}),
    "no resolver of its own": ("spec.dnsConfig", {}),
    "processes apart": ("spec.shareProcessNamespace", False),
    "users of the host": ("spec.hostUsers", True),
    "a short hostname": ("spec.setHostnameAsFQDN", False),
    "no hooks": (f"{MAIN}.lifecycle", {}),
    "no privileges": (f"{MAIN}.securityContext", {"privileged": False, "readOnlyRootFilesystem": False, "procMount": "Default"}),
    "no capabilities": (f"{MAIN}.securityContext", {"capabilities": {"drop": []}}),
    "how a toleration compares": ("spec.tolerations[0].operator", "Equal"),
    "how mounts spread": (f"{MAIN}.volumeMounts[0]", {"name": "config", "mountPath": "/c", "mountPropagation": "None"}),
    "a file that has to be there": ("spec.volumes[0].configMap.optional", False),
    "a key that has to be there": (f"{MAIN}.env[1].valueFrom.secretKeyRef.optional", False),
    "a volume without a source": ("spec.volumes[1].emptyDir", ABSENT),
    "no restart for other resources": (f"{MAIN}.resizePolicy", [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
}
OTHER = {
    "an image": (f"{MAIN}.image", "train:2"),
    "more memory": (f"{MAIN}.resources.limits.memory", "1025Mi"),
    "requests below limits": (f"{MAIN}.resources.requests", {"cpu": "500m"}),
    "another pull policy": (f"{MAIN}.imagePullPolicy", "Always"),
    "a user who is root": ("spec.securityContext.runAsUser", 0),
    "no privileges to gain": ("spec.containers[1].securityContext", {"allowPrivilegeEscalation": False}),
    "no services in the environment": ("spec.enableServiceLinks", False),
    "the scheduler that Kubernetes would take, and we would not": ("spec.schedulerName", "default-scheduler"),
    "an empty selector, which takes all": (
        "spec.affinity",
        {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]}},
    ),
    "a volume in memory": ("spec.volumes[1].emptyDir.medium", "Memory"),
    "another account": ("spec.serviceAccountName", "other"),
    "another account under the deprecated name alone": ("spec", {**POD, "serviceAccountName": None, "serviceAccount": "other"}),
    "a restart for other resources": (f"{MAIN}.resizePolicy", [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
    "a file that may be missing": ("spec.volumes[0].configMap.optional", True),
    "a label": ("metadata.labels", {"a": "b"}),
    "a field that nobody knows": ("spec.fromTheFuture", 1),
}


def after(path: str, value: Any) -> list[str]:
    template = {"metadata": {}, "spec": POD}
    return [render(change.path) for change in pod_template_differences(template, replace(template, parse(path), value))]


@rows(("path", "value"), SAME.values(), ids=SAME.keys())
def test_what_a_server_would_make_of_nothing_makes_no_other_pod(path: str, value: Any) -> None:
    assert after(path, value) == []


LISTS: dict[str, list[Any]] = {
    "spec.volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}, {"name": "c", "emptyDir": {}}],
    "spec.tolerations": [{"operator": "Exists"}, {"key": "gpu", "operator": "Exists"}, {"key": "gpu", "value": "a"}],
    "spec.imagePullSecrets": [{"name": "a"}, {"name": "b"}],
    f"{MAIN}.ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}, {"containerPort": 80, "protocol": "UDP"}],
    f"{MAIN}.volumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "a", "mountPath": "/b"}],
    f"{MAIN}.env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
}


def changes(path: str, before: Any, after: Any) -> list[str]:
    one, other = (replace({"metadata": {}, "spec": POD}, parse(path), value) for value in (before, after))
    return [render(change.path) for change in pod_template_differences(one, other)]


@pytest.mark.parametrize("path", list(LISTS))
def test_566_another_order_of_what_has_none_makes_no_other_pod(path: str) -> None:
    items = LISTS[path]
    assert changes(path, items, items[::-1]) == []
    assert changes(path, items, items[1:] + items[:1]) == []


NESTED: dict[str, Any] = {
    f"{MAIN}.securityContext": {"capabilities": {"add": ["A", "B"]}},
    "spec.securityContext": {"supplementalGroups": [1, 2], "sysctls": [{"name": "a", "value": "1"}, {"name": "b", "value": "1"}]},
    "spec.volumes": [{"name": "v", "secret": {"secretName": "s", "items": [{"key": "a", "path": "a"}, {"key": "b", "path": "b"}]}}],
    "spec.affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": key, "operator": "In", "values": ["a", "b"]} for key in ("gpu", "zone")]},
                    {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["e"]}, {"key": "host", "operator": "Exists"}]},
                ],
            },
        },
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "zone", "namespaces": ["a", "b"], "labelSelector": {"matchLabels": {"a": "b"}}},
                {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "c", "operator": "In", "values": ["d", "e"]}]}},
            ],
        },
    },
}


@rows(("path", "value"), NESTED.items(), ids=NESTED)
def test_another_order_at_all_depths_makes_no_other_pod(path: str, value: Any) -> None:
    assert reversed_lists(value) != value
    assert changes(path, value, reversed_lists(value)) == []


def test_another_item_in_another_order_is_told() -> None:
    one, other = ({"capabilities": {"add": names}} for names in (["A", "B"], ["B", "C"]))
    assert changes(f"{MAIN}.securityContext", one, other) != []


def test_of_reordered_items_the_one_that_changed_is_told() -> None:
    volumes = LISTS["spec.volumes"]
    other = {"name": "b", "configMap": {"name": "other"}}
    assert changes("spec.volumes", volumes, [other, volumes[2], volumes[0]]) == ["spec.volumes[1].configMap.name"]


def test_another_order_and_another_spelling_at_once_make_no_other_pod() -> None:
    short = [{"name": "a", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "b", "secret": {"secretName": "s"}}]
    long = [
        {"name": "b", "secret": {"secretName": "s", "defaultMode": 420}},
        {"name": "a", "emptyDir": {"sizeLimit": "1024Mi", "medium": ""}},
    ]
    assert changes("spec.volumes", short, long) == []
    assert changes("spec.volumes", long, short) == []


def test_variables_that_refer_to_others_keep_their_order() -> None:
    variables = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}]
    assert changes(f"{MAIN}.env", variables, variables[::-1]) != []


@pytest.mark.parametrize("path", ["spec.containers", "spec.initContainers", f"{MAIN}.args", f"{MAIN}.envFrom"])
def test_where_order_has_a_meaning_another_one_makes_another_pod(path: str) -> None:
    items = [{"name": "a"}, {"name": "b"}]
    assert changes(path, items, items[::-1]) != []


@rows(("path", "value"), OTHER.values(), ids=OTHER.keys())
def test_what_makes_another_pod_is_told(path: str, value: Any) -> None:
    (told,) = after(path, value)
    assert told.startswith(path)


VOLUMES: dict[str, dict[str, Any]] = {
    "awsElasticBlockStore": {"volumeID": "v"},
    "azureDisk": {"diskName": "d", "diskURI": "https://a.blob.core.windows.net/c/d.vhd"},
    "azureFile": {"secretName": "s", "shareName": "s"},
    "cephfs": {"monitors": ["m"]},
    "cinder": {"volumeID": "v"},
    "configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]},
    "csi": {"driver": "d.example.com"},
    "downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]},
    "emptyDir": {},
    "ephemeral": {
        "volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
    },
    "fc": {"targetWWNs": ["w"], "lun": 1},
    "flexVolume": {"driver": "d/d"},
    "flocker": {"datasetName": "d"},
    "gcePersistentDisk": {"pdName": "d"},
    "gitRepo": {"repository": "r"},
    "glusterfs": {"endpoints": "e", "path": "p"},
    "hostPath": {"path": "/p"},
    "image": {"reference": "model:latest"},
    "iscsi": {"targetPortal": "10.0.0.1:3260", "iqn": "iqn.2001-04.com.example:storage", "lun": 0},
    "nfs": {"server": "s", "path": "/p"},
    "persistentVolumeClaim": {"claimName": "c"},
    "photonPersistentDisk": {"pdID": "d"},
    "portworxVolume": {"volumeID": "v"},
    "projected": {
        "sources": [
            {"serviceAccountToken": {"path": "t"}},
            {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.uid"}}]}},
        ],
    },
    "quobyte": {"registry": "r:1", "volume": "v"},
    "rbd": {"monitors": ["m"], "image": "i"},
    "scaleIO": {"gateway": "https://g", "system": "s", "volumeName": "v", "secretRef": {"name": "s"}},
    "secret": {"secretName": "s"},
    "storageos": {"volumeName": "v"},
    "vsphereVolume": {"volumePath": "p"},
}
"""The least that each source of a volume needs."""
PROBES: list[dict[str, Any]] = [{"grpc": {"port": 1}}, {"tcpSocket": {"port": 1}}, {"exec": {"command": ["true"]}}]
DETAILED: dict[str, Any] = {
    "containers": [
        {
            "name": "main",
            "image": "registry:5000/train@sha256:" + "0" * 64,
            **dict(zip(("startupProbe", "livenessProbe", "readinessProbe"), PROBES, strict=True)),
            "lifecycle": {"postStart": {"httpGet": {"port": 80}}, "preStop": {"sleep": {"seconds": 1}}},
            "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}],
            "env": [{"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}],
            "envFrom": [{"configMapRef": {"name": "c"}}],
            "resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "2"}, "requests": {"cpu": "1"}},
            "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}, "seccompProfile": {"type": "RuntimeDefault"}},
            "volumeMounts": [{"name": "v0", "mountPath": "/v"}],
        },
    ],
    "initContainers": [{"name": "proxy", "image": "proxy:latest", "restartPolicy": "Always", "ports": [{"containerPort": 82}]}],
    "volumes": [*({"name": f"v{index}", source: fields} for index, (source, fields) in enumerate(VOLUMES.items())), {"name": "scratch"}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    "affinity": {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]},
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}],
            },
        },
    },
    "dnsConfig": {"options": [{"name": "ndots"}]},
    "hostNetwork": True,
    "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}],
    "readinessGates": [{"conditionType": "example.com/ready"}],
    "serviceAccountName": "trainer",
}


def pod_specs() -> dict[str, dict[str, Any]]:
    """The pod templates of the examples, and such with every default that a server fills in."""
    specs: dict[str, dict[str, Any]] = {"all of the above": POD, "each source of a volume, and what else has defaults": DETAILED}
    for file in sorted(ROOT.joinpath("examples").glob("*.yaml")):
        for document in documents_of(file.read_text()):
            if document.value["kind"] == "PodCliqueSet":
                for clique in document.value["spec"]["template"]["cliques"]:
                    specs[f"{file.stem} {clique['name']}"] = clique["spec"]["podSpec"]
    return specs


FILLED_BY_RULES = ("restartPolicy", "schedulerName", "terminationGracePeriodSeconds")
"""What our rules set in every pod template, and so is no difference that a server makes."""
ADMITTED = ("serviceAccount", "serviceAccountName", "tolerations", "preemptionPolicy", "priority", "nodeName")
"""What admission plugins add to pods; templates do not meet them."""


@ANY_POD
@pytest.mark.cluster
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, id=name, marks=pytest.mark.served_since("1.35", "a volume of an image") if spec is DETAILED else ())
        for name, spec in pod_specs().items()
    ],
)
def test_a_pod_that_a_server_has_stored_means_what_was_sent(spec: dict[str, Any], control_plane: ControlPlane, namespace: str) -> None:
    sent = {key: value for key, value in spec.items() if key not in (*set(ADMITTED) - {"serviceAccountName"}, "priorityClassName")}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": sent}
    stored = control_plane.request("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", pod)["spec"]
    kept = {key: value for key, value in stored.items() if key in sent or key not in (*ADMITTED, *FILLED_BY_RULES)}
    added = [volume["name"] for volume in stored.get("volumes", []) if volume["name"].startswith("kube-api-access-")]
    kept["volumes"] = [volume for volume in stored.get("volumes", []) if volume["name"] not in added]
    for container in [*kept["containers"], *kept.get("initContainers", [])]:
        container["volumeMounts"] = [mount for mount in container.get("volumeMounts", []) if mount["name"] not in added]
    assert [(render(one.path), one.before, one.after) for one in pod_template_differences({"spec": sent}, {"spec": kept})] == []
