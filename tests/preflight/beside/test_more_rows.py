"""More rows of the comparison with NVSentinel's checks: names of volumes, what each check gets, and how gangs are brought together."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.sources import RuleSource
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.preflight import inject
from grove_operator.preflight.process import Injector
from grove_operator.webhooks.review import NoReview
from preflight_images.dcgm_diag.verdict import name_of
from preflight_images.nccl_loopback.check import verdict
from preflight_images.shared.connector import message_of
from preflight_images.shared.outcome import HealthReport
from preflight_images.shared.settings import read_settings
from tests.shipped import program

from ..checks.recorded import RELEASES
from ..injecting import inject_pod, pod_of, values_of
from ..test_cases import volume
from ..test_gang_config import WORKLOAD, config_map
from ..test_gang_config import pod as gang_pod
from .rows import DEVICES, GPUS, admitted, check, row

LABELS = {"app.kubernetes.io/gang-id": "g", "app.kubernetes.io/gang-size": "2"}
ALL = [*check("dcgm-diag"), *check("nccl-loopback"), *check("nccl-allreduce")]


def of_a_gang(**container: Any) -> dict[str, Manifest]:
    """The checks of a pod of a gang, by their names."""
    spec = {"containers": [{"name": "main", "resources": DEVICES, **container}]}
    made = inject_pod(pod_of(spec, labels=LABELS), {"checks": ALL, "gangDiscovery": {"method": "labels"}})
    return {one["name"].removeprefix("preflight-"): one for one in made.injected["spec"]["initContainers"]}


def variables(container: Manifest) -> set[str]:
    return {one["name"] for one in container["env"]}


@row("names of volumes", "different")
def test_volumes_bear_the_design_s_names() -> None:
    spec = gang_pod("pod-0")["spec"]
    assert volume(spec, "platform-connector-socket")["hostPath"] == {"path": "/var/run/nvsentinel", "type": "DirectoryOrCreate"}
    assert volume(spec, "preflight-gang-config")["configMap"]["optional"] is True
    assert [one["mountPath"] for one in spec["initContainers"][0]["volumeMounts"]] == ["/var/run", "/etc/preflight"]


@row("shared memory", "different")
def test_memory_is_shared_where_a_value_says_how_much() -> None:
    results = [admitted(DEVICES, checks=check("nccl-loopback"), sharedMemory=size) for size in ("", "64Gi")]
    names = [[one["name"] for one in result.injected["spec"]["volumes"]] for result in results]
    assert names == [["platform-connector-socket"], ["platform-connector-socket", "preflight-shared-memory"]]


@row("settings of the gang", "different")
def test_only_the_gang_s_check_is_told_of_the_gang() -> None:
    told = {name: "GANG_ID" in variables(one) for name, one in of_a_gang().items()}
    assert told == {"dcgm-diag": False, "nccl-loopback": False, "nccl-allreduce": True}


@row("network devices of checks", "different")
def test_the_diagnostic_of_gpus_asks_for_no_network_devices() -> None:
    asked = {name: one["resources"]["limits"] for name, one in of_a_gang().items()}
    assert asked == {"dcgm-diag": GPUS["limits"], "nccl-loopback": DEVICES["limits"], "nccl-allreduce": DEVICES["limits"]}


@row("checks that take variables over", "different")
def test_only_checks_of_the_network_take_variables_over_and_none_a_threshold() -> None:
    env = [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "NCCL_LOOPBACK_THRESHOLD_GBPS", "value": "0"}]
    checks = of_a_gang(env=env)
    assert {name: "NCCL_DEBUG" in variables(one) for name, one in checks.items()} == {
        "dcgm-diag": False,
        "nccl-loopback": True,
        "nccl-allreduce": True,
    }
    assert {"name": "NCCL_LOOPBACK_THRESHOLD_GBPS", "value": "10.0"} in checks["nccl-loopback"]["env"]


@row("mounts taken over", "different")
def test_mounts_are_taken_over_whose_volumes_the_values_name() -> None:
    spec = {
        "containers": [{"name": "main", "resources": DEVICES, "volumeMounts": [{"name": "nccl-plugin", "mountPath": "/plugin"}]}],
        "volumes": [{"name": "nccl-plugin", "emptyDir": {}}],
    }
    results = [admitted({}, spec=spec, checks=check("nccl-loopback"), volumeMountPatterns=globs) for globs in ([], ["nccl-*"])]
    mounted = ["/plugin" in [one["mountPath"] for one in result.patch[0]["value"][0]["volumeMounts"]] for result in results]
    assert mounted == [False, True]


@row("other variables of checks", "different")
def test_a_threshold_of_nothing_skips_the_bandwidth() -> None:
    assert verdict(0, RELEASES["2.13"], 0.0, 2).exit_code == 0
    assert verdict(0, RELEASES["2.13"], 50.0, 2).exit_code == 1


@row("ids of gangs", "better")
def test_an_id_tells_its_parts_apart() -> None:
    pod = pod_of({"workloadRef": {"name": "a-b", "podGroup": "c"}, "containers": [{"name": "main", "resources": DEVICES}]})
    gang = inject_pod(pod, {"checks": check("nccl-allreduce")}).gang
    assert gang is not None
    assert gang.id == "workloadRef/training/a-b/c"


@row("size of a gang", "better")
def test_a_gang_is_never_smaller_than_it_is_and_not_whole_while_nobody_knows_its_size() -> None:
    three = [gang_pod(f"pod-{number}", f"10.0.1.{number}") for number in range(3)]
    assert [config_map(WORKLOAD, *three)["data"]["expected_count"], config_map(*three)["data"]["expected_count"]] == ["3", "0"]


@row("the ConfigMap of a gang", "better")
def test_admission_makes_nothing_and_the_pod_does_not_wait_for_the_config_map() -> None:
    made = gang_pod("pod-0")
    assert volume(made["spec"], "preflight-gang-config")["configMap"]["optional"] is True
    assert sorted(config_map(WORKLOAD, made)["data"]) == ["expected_count", "master_addr", "peers"]


MINE = """
rule: preflight/gang-reference
doc: Gangs of one namespace are those of another scheduler.
decide: gang_reference
cases:
  - when: pod.annotations['scheduling.example.com/group']
    value: "{'parts': [pod.annotations['scheduling.example.com/group']], 'apiVersion': 'example.com/v1', 'kind': 'Group', 'name': 'x'}"
  - {value: none}
"""


@row("gangs of other schedulers", "different")
def test_a_rule_of_one_s_own_finds_other_gangs() -> None:
    mine = build([*rulebook.read().sources(), RuleSource("rules/mine.yaml", MINE, "mine")], VOCABULARY)
    pod = pod_of({"containers": [{"name": "m", "resources": DEVICES}]}, annotations={"scheduling.example.com/group": "theirs"})
    gang = inject(pod, ObjectList(), values_of({"checks": check("nccl-allreduce")}), mine).gang
    assert gang is not None
    assert gang.config_map == "preflight-theirs"


@row("a review without a request", "different")
def test_a_review_that_asks_nothing_is_not_answered() -> None:
    with pytest.raises(NoReview):
        Injector(values_of({}), program(), ObjectList()).review({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"})


@row("error codes of the diagnostic", "same")
def test_an_error_has_dcgm_s_own_name() -> None:
    assert name_of(4) == "DCGM_FR_VOLATILE_DBE_DETECTED"


@row("ids of health events", "better")
def test_the_same_event_has_the_same_id() -> None:
    settings = read_settings({"NODE_NAME": "node-1"})
    one, same, other = (message_of(HealthReport("Test", text), "preflight-test", settings, 1.0).id for text in ("a", "a", "b"))
    assert one == same != other
