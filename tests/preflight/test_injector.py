"""Admission of pods: the same patch as offline, refusals with every reason, and nothing for what is no new pod."""

from __future__ import annotations

import base64
import json
from typing import Any

import jsonpatch
import pytest

from applier.cache import WatchCache
from applier.testing.memory import MemoryCluster
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.unknown import Unknown
from grove_operator.preflight.process import AdmissionServer, Injector
from grove_operator.webhooks.review import NoReview

from ..shipped import program
from .injecting import inject_pod, pod_of, values_of

GPUS = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}
VALUES: dict[str, Any] = {"checks": [{"name": "dcgm-diag", "image": "d"}]}


def asked(pod: Manifest, operation: str = "CREATE") -> Manifest:
    request = {"uid": "42", "operation": operation, "namespace": "training", "object": pod, "oldObject": pod, "dryRun": True}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def answered(pod: Manifest, operation: str = "CREATE", **values: Any) -> Manifest:
    injector = Injector(values_of(VALUES | values), program(), ObjectList())
    response: Manifest = injector.review(asked(pod, operation))["response"]
    return response


def test_the_patch_is_the_one_that_is_made_offline() -> None:
    pod = pod_of(GPUS)
    response = answered(pod)
    patch = json.loads(base64.b64decode(response["patch"]))
    assert response["allowed"] is True
    assert jsonpatch.apply_patch(pod, patch) == inject_pod(pod, VALUES).injected


def test_a_pod_that_has_no_namespace_yet_is_in_that_of_the_request() -> None:
    pod = pod_of(GPUS)
    del pod["metadata"]["namespace"]
    assert "patch" in answered(pod)


@pytest.mark.parametrize(("spec", "operation"), [({"containers": [{"name": "main"}]}, "CREATE"), (GPUS, "UPDATE"), (GPUS, "DELETE")])
def test_what_is_no_new_pod_with_gpus_stays_as_it_is(spec: Manifest, operation: str) -> None:
    assert answered(pod_of(spec), operation) == {"uid": "42", "allowed": True}


def test_a_pod_is_refused_with_the_reason() -> None:
    spec = GPUS | {"volumes": [{"name": "platform-connector-socket", "emptyDir": {}}]}
    response = answered(pod_of(spec))
    assert response["allowed"] is False
    assert "patch" not in response
    assert "/var/run/nvsentinel" in response["status"]["message"]


def test_whoever_makes_a_pod_hears_what_it_does_not_get() -> None:
    response = answered(pod_of(GPUS), checks=[{"name": "nccl-loopback", "image": "l"}])
    assert (response["allowed"], len(response["warnings"])) == (True, 1)
    assert "asks for no network devices" in response["warnings"][0]


def test_what_is_no_review_is_none() -> None:
    with pytest.raises(NoReview):
        Injector(values_of(VALUES), program(), ObjectList()).review({"kind": "Pod"})


def test_nobody_is_answered_before_the_cluster_is_known() -> None:
    counted: list[str] = []
    admission = AdmissionServer(WatchCache(MemoryCluster(), ()), values_of(VALUES), program(), lambda result, _: counted.append(result))
    with pytest.raises(Unknown):
        admission.review(asked(pod_of(GPUS)))
    assert counted == []


REFUSED = GPUS | {"volumes": [{"name": "platform-connector-socket", "emptyDir": {}}]}
RESULTS: dict[str, Manifest] = {"injected": GPUS, "skipped": {"containers": [{"name": "main"}]}, "refused": REFUSED}


@pytest.mark.parametrize("result", RESULTS)
def test_each_answer_is_counted_by_what_it_makes_of_the_pod(result: str) -> None:
    counted: list[str] = []
    admission = AdmissionServer(WatchCache(MemoryCluster(), ()), values_of(VALUES), program(), lambda result, _: counted.append(result))
    admission.is_ready = True
    admission.review(asked(pod_of(RESULTS[result])))
    assert counted == [result]


def test_what_is_no_review_counts_as_an_error() -> None:
    counted: list[str] = []
    admission = AdmissionServer(WatchCache(MemoryCluster(), ()), values_of(VALUES), program(), lambda result, _: counted.append(result))
    admission.is_ready = True
    with pytest.raises(NoReview):
        admission.review({"kind": "Pod"})
    assert counted == ["error"]
