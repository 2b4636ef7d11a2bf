"""Pods come out of a real API server with checks, and gangs find one another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from applier.testing.control_plane import ControlPlane
from tests.applier.transport.certificates import needs_openssl

from .admission import NAMES, Admission, admitting
from .workloads import workload

pytestmark = [pytest.mark.cluster, needs_openssl, pytest.mark.xdist_group("preflight admission")]
TESTS = 5


@pytest.fixture(scope="module")
def admissions(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Admission]]:
    """One controller for all tests of this file, seen in a namespace for each of them: to start one costs more than any test."""
    namespaces = [control_plane.create_namespace() for _ in range(TESTS)]
    with admitting(control_plane, namespaces, tmp_path_factory.mktemp("preflight")) as there:
        yield map(there.elsewhere, namespaces)
    for namespace in namespaces:
        control_plane.clear_namespace(namespace)


@pytest.fixture
def admission(admissions: Iterator[Admission]) -> Admission:
    return next(admissions)


def test_a_dry_run_shows_the_checks_and_makes_nothing(admission: Admission) -> None:
    shown = json.loads(admission.create("pod-0", "--dry-run=server", "-o", "json"))
    assert [one["name"] for one in shown["spec"]["initContainers"]] == NAMES
    assert admission.get("configmap preflight-g1") is None


def test_a_gang_forms_is_repaired_and_goes(admission: Admission) -> None:
    for number in range(2):
        admission.create(f"pod-{number}")
        admission.give_address(f"pod-{number}", f"10.0.1.{number}")
    admission.wait_for(lambda: admission.peers() == ["pod-0:10.0.1.0", "pod-1:10.0.1.1"], "the gang did not form")
    assert admission.get("configmap preflight-g1")["data"]["expected_count"] == "2"

    admission.kubectl("delete", "configmap", "preflight-g1")
    admission.wait_for(lambda: len(admission.peers()) == 2, "a ConfigMap that was deleted by hand did not come back")

    admission.remove("pod-1")
    admission.create("pod-2")
    admission.give_address("pod-2", "10.0.1.2")
    admission.wait_for(lambda: admission.peers() == ["pod-0:10.0.1.0", "pod-2:10.0.1.2"], "a pod that was replaced is still a peer")

    admission.remove("pod-0", "pod-2")
    admission.wait_for(lambda: admission.get("configmap preflight-g1") is None, "the ConfigMap outlived the last pod")


def test_64_pods_form_one_gang(admission: Admission) -> None:
    names = [f"pod-{number:02}" for number in range(64)]
    asyncio.run(admission.create_gang(names))
    wanted = [f"{name}:10.0.2.{number}" for number, name in enumerate(names)]
    admission.wait_for(lambda: admission.peers() == wanted, "the gang did not form")
    data = admission.get("configmap preflight-g64")["data"]
    assert (data["expected_count"], data["master_addr"]) == ("64", "10.0.2.0")


def test_people_are_told_of_a_check_that_failed(admission: Admission) -> None:
    admission.create("pod-0")
    admission.end_check("pod-0", "preflight-nccl-allreduce", 3, "# 5 GB/s, less than 10\n")

    def told() -> list[str]:
        return [one["message"] for one in admission.items("events --field-selector reason=PreflightCheckFailed")]

    admission.wait_for(lambda: told() != [], "nobody was told")
    counted = 'preflight_check_failures_total{check="nccl-allreduce",error_code="EXIT_3",node=""} 1.0'
    admission.wait_for(lambda: counted in admission.metrics(), "nobody counted")  # after the event was written
    assert 'preflight_injection_total{result="injected"}' in admission.metrics()
    assert told() == ["Check nccl-allreduce failed on node unknown (EXIT_3): 5 GB/s, less than 10"]


def test_status_shows_a_gang_and_a_pod_in_none_whose_checks_have_failed(admission: Admission) -> None:
    admission.create("pod-0")
    admission.give_address("pod-0", "10.0.1.0")
    alone = workload("alone")
    del alone["metadata"]["labels"]
    admission.make(alone)
    admission.wait_for(lambda: admission.peers() == ["pod-0:10.0.1.0"], "the pod did not register")
    assert admission.status()[0] == 0

    admission.end_check("pod-0", "preflight-nccl-allreduce", 1, "# 5 GB/s, less than 10\n")
    admission.end_check("alone", "preflight-dcgm-diag", 1, "# GPU-a failed memory\n")
    code, text = admission.status()
    assert code == 1
    gang, member, single = text.splitlines()
    assert gang.startswith(f"{admission.namespace}/preflight-g1  failed  1 of 2 pods")
    assert member.startswith("  pod-0  10.0.1.0  no node  ") and member.endswith(
        "nccl-allreduce failed (1) after 0 s: 5 GB/s, less than 10"
    )
    assert single.startswith(f"{admission.namespace}/alone  failed") and single.endswith("failed (1) after 0 s: GPU-a failed memory")
