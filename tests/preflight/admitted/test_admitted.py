"""A real API server takes each pod that checks are put into: pods of all sorts, with values of all sorts, and the pods of the cases."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.testing import assets
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import RequestRefused
from grove_compiler.model.inputs.snapshot import ObjectList
from tests.permitted import ANY_POD
from tests.suite.rows import rows

from ..injecting import inject_pod, pod_of
from ..test_cases import ADMITTED, injected

pytestmark = [pytest.mark.cluster, ANY_POD]
HERE = Path(__file__).parent
GPU, NIC, CHANNEL = "gpu.nvidia.com", "rdma.nvidia.com", "compute-domain-default-channel.nvidia.com"
REFUSED_ANYWAY = {
    "v1alpha2 names one class for the claim",
    "requests ask for GPUs as well",
    "a scheduling group of newer Kubernetes comes first",
    "a gang's check that comes after a wait for other pods of the gang would never end",
    "before that wait it is fine",
    "checks are told by the names of NVSentinel's images as well",
    "and a size of less than none",
    "what a kubelet shows of a pod of its own has begun already",
}
"""Cases with pods that this server does not take without checks either: fields of other versions, and what a case does not need."""


def cases(file: str) -> list[Any]:
    read = yaml.load((HERE / file).read_text(), yaml.CSafeLoader)
    return [pytest.param(one, id=one["case"]) for one in read]


def claims() -> Iterator[dict[str, Any]]:
    """The claims and templates that the pods name."""
    for name, classes in {"gpu": {"gpu": GPU}, "nic": {"nic": NIC}, "gpu-and-nic": {"gpu": GPU, "nic": NIC}}.items():
        yield claim("ResourceClaim", name, devices(classes))
        yield claim("ResourceClaimTemplate", name, {"spec": devices(classes)})
    yield claim("ResourceClaimTemplate", "all", {"spec": devices({"gpu": GPU, "nic": NIC, "channel": CHANNEL})})


def claim(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name, "namespace": "training"}, "spec": spec}


def devices(classes: dict[str, str]) -> dict[str, Any]:
    return {"devices": {"requests": [{"name": name, "exactly": {"deviceClassName": each}} for name, each in classes.items()]}}


def refusal(plane: ControlPlane, namespace: str, pod: dict[str, Any]) -> str:
    """Why the server does not take a pod, which is not made; nothing where it does."""
    spec = {"serviceAccountName": "default", **pod["spec"]}  # as admission of a cluster names it, before it asks webhooks
    pod = {**pod, "metadata": {**pod["metadata"], "namespace": namespace}, "spec": spec}
    try:
        plane.request("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All&fieldValidation=Strict", pod)
    except RequestRefused as refused:
        return str(refused)
    return ""


def skip_unless_served(pod: dict[str, Any]) -> None:
    """Skips the row of a pod with a field that only newer servers know."""
    if "workloadRef" in pod and (reason := assets.why_not_served("a pod's workloadRef", "1.35")):
        pytest.skip(reason)


def completed(pod: dict[str, Any]) -> dict[str, Any]:
    """A pod of a case with what it leaves out and a server asks for."""
    pod = copy.deepcopy(pod)
    spec = pod["spec"]
    for container in (*spec.get("initContainers", ()), *spec["containers"]):
        container.setdefault("image", "m")
        for mount in container.get("volumeMounts", ()):
            if mount["name"] not in [volume["name"] for volume in spec.setdefault("volumes", [])]:
                spec["volumes"].append({"name": mount["name"], "emptyDir": {}})
    return pod


@rows("values", cases("values.yaml"))
@rows("case", cases("pods.yaml"))
def test_a_pod_of_every_sort_is_taken_with_checks(case: Any, values: Any, control_plane: ControlPlane, namespace: str) -> None:
    skip_unless_served(case["pod"])
    pod = pod_of(case["pod"], labels=case.get("labels"), annotations=case.get("annotations"))
    pod["metadata"] |= {"ownerReferences": [case["owner"]]} if "owner" in case else {}
    assert refusal(control_plane, namespace, pod) == ""
    injection = inject_pod(pod, values["values"], ObjectList(claims()))
    assert [finding.message for finding in injection.findings if finding.severity == "error"] == []
    assert bool(injection.patch) is needs_checks(case, values)
    assert refusal(control_plane, namespace, injection.injected) == ""


def needs_checks(case: Any, values: Any) -> bool:
    """Whether the values know the devices of a pod for GPUs."""
    by_claim = "resourceClaims" in case["pod"] and not any("limits" in one["resources"] for one in case["pod"]["containers"])
    by_class = "device classes" in case["case"]
    return "without-checks" not in case and (not (by_claim or by_class) or "gpuDetection" in values["values"])


@rows("case", ADMITTED)
def test_the_pods_of_the_cases_are_taken_with_checks(case: Any, control_plane: ControlPlane, namespace: str) -> None:
    skip_unless_served(case["pod"])
    made = injected({**case, "pod": completed(pod_of(case["pod"]))["spec"]})
    assert bool(refusal(control_plane, namespace, made.pod)) is (case["case"] in REFUSED_ANYWAY)
    if case["case"] not in REFUSED_ANYWAY:
        assert refusal(control_plane, namespace, made.injected) == ""
