"""What the ConfigMap of a gang records of pods that have passed with it, and who may pass by that: the very pod, where it was."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Ref
from applier.testing.virtual_time import in_virtual_time
from grove_compiler.graph.node import Manifest
from preflight_images.nccl_allreduce import check as allreduce
from preflight_images.nccl_allreduce.gang import has_passed
from preflight_images.shared.outcome import PASSED
from preflight_images.shared.settings import CheckSettings
from tests.suite.rows import rows

from .test_gang_config import WORKLOAD, config_map, pod
from .test_gang_controller import NAME, controller_running, found, world

CHECK = "preflight-nccl-allreduce"
SUCCEEDED, FAILED = ({"terminated": {"exitCode": code, "containerID": "c1"}} for code in (0, 1))
RUNS: dict[str, Any] = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


def at(node: str, name: str = "pod-0", *, state: Any = None, last: Any = None, uid: str = "", container: str = CHECK) -> Manifest:
    """A pod of the gang at a node, whose check is in this state, and was in another before."""
    made = pod(name, f"10.0.1.{name[-1]}", **({"uid": uid} if uid else {}))
    made["spec"]["nodeName"] = node
    status = {"name": container, "state": state or {}, "lastState": last or {}}
    return {**made, "status": {**made["status"], "initContainerStatuses": [status] if state or last else []}}


def recorded(*pods: Manifest, before: str = "") -> list[str]:
    """The verdicts in the ConfigMap, which had others before."""
    live = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, "namespace": "training"}, "data": {"passed": before}}
    return str(config_map(WORKLOAD, *pods, *([live] if before else []))["data"].get("passed", "")).splitlines()


VERDICT = "nccl-allreduce uid-of-pod-0 n"


def test_a_pod_that_has_passed_is_recorded_with_its_uid_and_its_node() -> None:
    assert recorded(at("n", state=SUCCEEDED), at("m", "pod-1", state=RUNS)) == [VERDICT]


STATUSES: dict[str, tuple[Manifest, list[str]]] = {
    "one that runs again after it has passed": (at("n", state=RUNS, last=SUCCEEDED), [VERDICT]),
    "one that runs for the first time": (at("n", state=RUNS), []),
    "one that has failed": (at("n", state=FAILED), []),
    "one that tries again": (at("n", state=RUNS, last=FAILED), []),
    "one without a node": (at("", state=SUCCEEDED), []),
    "one that has passed a check of its own": (at("n", state=SUCCEEDED, container="preflight-dcgm-diag"), []),
}


@rows("what", STATUSES)
def test_only_a_pod_that_has_passed_is_recorded(what: str) -> None:
    given, verdicts = STATUSES[what]
    assert recorded(given) == verdicts


KEPT: dict[str, tuple[Manifest, str, list[str]]] = {
    "its status forgets it": (at("n"), VERDICT, [VERDICT]),
    "it failed alone since": (at("n", state=RUNS, last=FAILED), VERDICT, [VERDICT]),
    "another pod has its name": (at("n", uid="another"), VERDICT, []),
    "another node": (at("m"), VERDICT, []),
    "another check": (at("n"), "nccl-loopback uid-of-pod-0 n", []),
    "words of nobody": (at("n"), "everybody\nuid-of-pod-0\nnccl-allreduce uid-of-pod-0\n* * *", []),
    "a pod that is gone": (at("n"), "nccl-allreduce uid-of-pod-9 n", []),
}


@rows("what", KEPT)
def test_a_record_stays_as_long_as_its_pod_and_is_nobody_else_s(what: str) -> None:
    given, before, verdicts = KEPT[what]
    assert recorded(given, before=before) == verdicts


@in_virtual_time
async def test_the_record_outlives_the_restart_of_a_sandbox_and_of_the_controller_and_ends_with_its_pod() -> None:
    cluster = world()
    cluster.seed(WORKLOAD, at("n", state=SUCCEEDED), at("m", "pod-1", state=SUCCEEDED))
    both = f"{VERDICT}\nnccl-allreduce uid-of-pod-1 m\n"
    async with controller_running(cluster):
        assert (found(cluster) or {})["data"]["passed"] == both
        cluster.seed(at("n"))  # the kubelet begins anew with the pod
        await asyncio.sleep(5)
        assert (found(cluster) or {})["data"]["passed"] == both
    async with controller_running(cluster):
        assert (found(cluster) or {})["data"]["passed"] == both
        cluster.store.remove(Ref("", "Pod", "training", "pod-0"))
        cluster.seed(at("n", uid="uid-of-another"))
        await asyncio.sleep(5)
        assert (found(cluster) or {})["data"]["passed"] == "nccl-allreduce uid-of-pod-1 m\n"


FILES = {"expected_count": "2", "master_addr": "10.0.1.0", "peers": "pod-0:10.0.1.0\npod-1:10.0.1.1", "passed": f"{VERDICT}\n"}
ASKING = {
    "the pod itself": ({"POD_UID": "uid-of-pod-0", "NODE_NAME": "n"}, True),
    "another pod of its name": ({"POD_UID": "another", "NODE_NAME": "n"}, False),
    "another pod at its node": ({"POD_UID": "uid-of-pod-1", "NODE_NAME": "n"}, False),
    "the pod at another node": ({"POD_UID": "uid-of-pod-0", "NODE_NAME": "m"}, False),
    "a part of its UID": ({"POD_UID": "uid-of-pod", "NODE_NAME": "n"}, False),
    "nobody": ({"POD_UID": "", "NODE_NAME": "n"}, False),
    "a pod that does not know its node": ({"POD_UID": "uid-of-pod-0", "NODE_NAME": ""}, False),
}


@rows("who", ASKING)
def test_nobody_else_passes_by_a_record(who: str, tmp_path: Path) -> None:
    (tmp_path / "passed").write_text(FILES["passed"])
    variables, passes = ASKING[who]
    assert has_passed(tmp_path, "nccl-allreduce", variables["POD_UID"], variables["NODE_NAME"]) is passes
    assert not has_passed(tmp_path, "nccl-loopback", variables["POD_UID"], variables["NODE_NAME"])


def checked(folder: Path, uid: str) -> Any:
    """The outcome of the check of the pod pod-0, whose peers do not answer."""
    told = {"MY_POD_NAME": "pod-0", "GANG_CONFIG_DIR": str(folder), "NPROCS_PER_NODE": "1", "POD_UID": uid, "GANG_TIMEOUT": "1ns"}
    return allreduce.check(told, CheckSettings("n", "unix:///s", "EXECUTE_REMEDIATION", 1, "", "", ""))


def test_a_pod_that_comes_back_after_its_gang_has_passed_passes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allreduce, "measure", lambda *_, **__: pytest.fail("it has nobody to measure with"))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    outcome = checked(tmp_path, "uid-of-pod-0")
    assert (outcome.exit_code, outcome.reports, outcome.measured) == (PASSED, (), {})


def test_another_pod_of_its_name_waits_for_the_gang_as_ever(tmp_path: Path) -> None:
    for name, text in {**FILES, "expected_count": "3"}.items():
        (tmp_path / name).write_text(text)
    assert checked(tmp_path, "another").error_code == "NCCL_GANG_TIMEOUT"
