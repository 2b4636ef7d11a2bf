"""What NVSentinel's preflight checks do, row by row: the same here, better, or different on purpose. docs/preflight.md lists the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from grove_compiler.graph.node import Manifest
from grove_compiler.preflight import read_values
from grove_compiler.preflight_result import check_events
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from grove_operator.preflight.metrics import CheckMetrics
from grove_operator.preflight.process import MUTATE_PODS, NVSENTINEL_PATH
from preflight_images.dcgm_diag.check import ProcessResult, unknown, verdict
from preflight_images.dcgm_diag.diag_json import DiagResult
from preflight_images.dcgm_diag.verdict import judge, unrequested
from preflight_images.nccl_allreduce.check import gang_timeout
from preflight_images.nccl_allreduce.gang import read_gang
from preflight_images.nccl_loopback.check import command
from preflight_images.shared.nccl import ACTIONS, BANDWIDTH, failure
from preflight_images.shared.outcome import FAILED, MISCONFIGURED, PASSED, RecommendedAction
from preflight_images.shared.settings import threshold_of
from tests.shipped import program

from ..injecting import inject_pod, pod_of, values_of
from ..test_cases import volume
from ..test_gang_config import WORKLOAD, config_map
from ..test_gang_config import pod as gang_pod
from ..test_results import POD_REF, ended, pod_with
from .rows import DEVICES, GPUS, LABELLED, SELECTION, admitted, check, environment, names, row


@row("namespaces", "better")
def test_namespaces_are_chosen_by_name_or_by_the_shipped_label() -> None:
    by_label: dict[str, Any] = {"namespaces": [], "namespaceSelector": {"matchLabels": {"nvsentinel.nvidia.com/preflight": "enabled"}}}
    assert [
        bool(admitted(GPUS, *objects, **by_label).patch) for objects in ([LABELLED], [{**LABELLED, "metadata": {"name": "training"}}])
    ] == [
        True,
        False,
    ]
    assert admitted(GPUS).patch


@row("webhook path", "better")
def test_both_paths_are_answered() -> None:
    assert (MUTATE_PODS, NVSENTINEL_PATH) == ("/mutate-pod", "/mutate")


@row("placement", "different")
def test_checks_come_first_unless_they_are_to_come_last() -> None:
    spec = {"initContainers": [{"name": "mine"}]}
    placed = [names(admitted(GPUS, spec=spec, checks=check("a"), initContainerPlacement=where)) for where in ("prepend", "append")]
    assert placed == [["preflight-a", "mine"], ["mine", "preflight-a"]]
    assert names(admitted(GPUS, spec=spec, checks=check("a"))) == placed[0]


@row("choice by pods", "different")
def test_the_annotation_counts_where_the_values_allow_it() -> None:
    both = [*check("a"), *check("b")]
    chosen = [names(admitted(GPUS, annotations={SELECTION: "b"}, checks=both, podSelection=allowed)) for allowed in (True, False)]
    assert chosen == [["preflight-b"], ["preflight-a", "preflight-b"]]


@row("what counts as a GPU", "better")
def test_gpus_are_found_by_claim_and_in_init_containers_as_well() -> None:
    requests = [{"name": "g", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "training"}}
    by_claim = {"resourceClaims": [{"name": "gpus", "resourceClaimName": "c"}]}
    existing = {**claim, "spec": {"devices": {"requests": requests}}}
    assert admitted({}, existing, spec=by_claim, gpuDetection={"deviceClasses": ["gpu.nvidia.com"]}).patch
    assert admitted({}, spec={"initContainers": [{"name": "warm-up", "resources": GPUS}]}).patch


@row("GPUs of the diagnostic", "better")
def test_results_of_other_pods_gpus_are_none_of_the_pod_s() -> None:
    results = [DiagResult("memory", "FAIL", 0, "bad"), DiagResult("memory", "PASS", 5, "")]
    assert unrequested(results, {5: "GPU-mine"}) == [0]
    assert judge(results[1:], {5: "GPU-mine"}).exit_code == PASSED


@row("level of the diagnostic", "different")
def test_the_level_is_the_design_s_unless_it_is_told() -> None:
    levels = [
        environment(admitted(GPUS, checks=check("dcgm-diag"), **values))["DCGM_DIAG_LEVEL"] for values in ({}, {"dcgm": {"diagLevel": 2}})
    ]
    assert levels == ["1", "2"]


@row("address of the engine", "different")
def test_the_engine_is_the_design_s_unless_it_is_told() -> None:
    shipped = "nvidia-dcgm.gpu-operator.svc:5555"
    told = [environment(admitted(GPUS, checks=check("dcgm-diag"), **values)) for values in ({}, {"dcgm": {"hostengineAddr": shipped}})]
    assert [one["DCGM_HOSTENGINE_ADDR"] for one in told] == ["dcgm-hostengine.nvsentinel.svc:5555", shipped]


@row("settings of checks", "better")
def test_settings_stand_in_blocks_and_variables_of_a_check_count_before_them() -> None:
    plain = check("dcgm-diag", env=[{"name": "DCGM_DIAG_LEVEL", "value": "3"}])
    assert environment(admitted(GPUS, checks=plain, dcgm={"diagLevel": 2}))["DCGM_DIAG_LEVEL"] == "3"


@row("loopback command", "different")
def test_the_loopback_test_sweeps_over_sizes() -> None:
    assert command("all_reduce_perf", 8)[1:] == ("-b", "8", "-e", "256M", "-f", "2", "-g", "8")


@row("thresholds", "different")
def test_thresholds_are_the_design_s() -> None:
    nccl = read_values(None)[0].manifest["nccl"]
    assert nccl == {"loopbackThresholdGBps": 10.0, "allreduceThresholdGBps": 5.0}


@row("name of the threshold", "better")
def test_a_threshold_by_the_shipped_name_counts_instead_of_ours() -> None:
    told = environment(admitted(DEVICES, checks=check("nccl-loopback", env=[{"name": "BW_THRESHOLD_GBPS", "value": "150"}])))
    given = {name: value for name, value in told.items() if value is not None}
    assert threshold_of(given, "NCCL_LOOPBACK_THRESHOLD_GBPS", 10.0) == 150.0


@row("gang discovery", "better")
@pytest.mark.parametrize(
    ("method", "labels"),
    [
        ("kueue", {"kueue.x-k8s.io/workload-name": "g"}),
        ("labels", {"app.kubernetes.io/gang-id": "g"}),
        ("workloadRef", {"grove.io/podgang": "g"}),
    ],
)
def test_gangs_are_found_that_nvsentinel_does_not_know(method: str, labels: dict[str, str]) -> None:
    pod = pod_of({"containers": [{"name": "main", "resources": DEVICES}]}, labels=labels)
    gang = inject_pod(pod, {"checks": check("nccl-allreduce"), "gangDiscovery": {"method": method}}).gang
    assert gang is not None
    assert gang.config_map == "preflight-g"


@row("pods without a gang", "better")
def test_a_pod_that_is_alone_skips_the_gang_s_check() -> None:
    assert names(admitted(DEVICES, checks=[*check("nccl-loopback"), *check("nccl-allreduce")])) == ["preflight-nccl-loopback"]


@row("lines of peers", "different")
def test_a_peer_is_a_name_and_an_address() -> None:
    data = config_map(WORKLOAD, gang_pod("pod-0", "10.0.1.5"))["data"]
    assert (sorted(data), data["peers"]) == (["expected_count", "master_addr", "peers"], "pod-0:10.0.1.5\n")


@row("rank", "different")
def test_a_pod_sorts_the_names_itself_so_no_rank_is_out_of_date(tmp_path: Path) -> None:
    for name, text in {"expected_count": "2", "master_addr": "10.0.1.5", "peers": "pod-1:10.0.1.6\npod-0:10.0.1.5\n"}.items():
        (tmp_path / name).write_text(text)
    gang, _ = read_gang(tmp_path, "pod-1")
    assert gang is not None
    assert gang.rank == 1


@row("topology files", "better")
def test_the_type_of_machine_chooses_the_topology() -> None:
    spec = {"nodeSelector": {"node.kubernetes.io/instance-type": "p5.48xlarge"}}
    told = environment(admitted(DEVICES, spec=spec, checks=check("nccl-loopback")))
    assert told["NCCL_TOPO_FILE"] == "/opt/nvsentinel/nccl-topologies/aws-p5.48xlarge.xml"


@row("variables taken over", "different")
def test_the_design_s_patterns_choose_variables_and_others_are_a_value_away() -> None:
    variables = [{"name": name, "value": "x"} for name in ("NCCL_DEBUG", "OMPI_MCA_x", "FI_PROVIDER")]
    spec = {"containers": [{"name": "main", "env": variables, "resources": DEVICES}]}
    given = [
        environment(admitted({}, spec=spec, checks=check("nccl-loopback"), **values)) for values in ({}, {"ncclEnvPatterns": ["FI_*"]})
    ]
    assert [sorted({"NCCL_DEBUG", "OMPI_MCA_x", "FI_PROVIDER"} & set(one)) for one in given] == [
        ["NCCL_DEBUG", "OMPI_MCA_x"],
        ["FI_PROVIDER"],
    ]


@row("NCCL checks without network devices", "different")
def test_nccl_checks_need_network_devices_unless_they_are_told_otherwise() -> None:
    kept = [names(admitted(GPUS, checks=check("nccl-loopback", **more))) for more in ({}, {"network": False})]
    assert kept == [[], ["preflight-nccl-loopback"]]


@row("exit codes", "different")
def test_there_are_three_exit_codes() -> None:
    assert (PASSED, FAILED, MISCONFIGURED) == (0, 1, 2)
    assert gang_timeout("late").exit_code == FAILED


@row("remedies of the diagnostic", "different")
def test_stress_asks_for_diagnostics_of_the_field_and_settings_blame_no_hardware() -> None:
    (stress,) = judge([DiagResult("targeted_stress", "FAIL", 0, "t", (50,))], {0: "GPU-a"}).reports
    (persistence,) = judge([DiagResult("persistence_mode", "FAIL", 0, "t", (29,))], {0: "GPU-a"}).reports
    assert [(one.action, one.is_fatal) for one in (stress, persistence)] == [
        (RecommendedAction.RUN_DCGMEUD, True),
        (RecommendedAction.NONE, False),
    ]


@row("an engine that is away or busy", "better")
def test_an_engine_that_is_away_or_busy_stops_the_pod_and_blames_no_hardware() -> None:
    for outcome in (unknown("DCGM_UNREACHABLE", "no route"), verdict(ProcessResult(217, "", ""), {0: "GPU-a"}, ("software",))):
        assert [(report.is_fatal, report.action) for report in outcome.reports] == [(False, RecommendedAction.NONE)]
        assert outcome.exit_code == FAILED


@row("errors of NCCL", "different")
def test_errors_are_the_design_s_and_those_beside_them_blame_no_hardware() -> None:
    assert list(ACTIONS) == ["NCCL_SYSTEM_ERROR", "NCCL_INTERNAL_ERROR", "NCCL_INVALID_USAGE", "NCCL_TIMEOUT", "NCCL_REMOTE_ERROR"]
    for code in (BANDWIDTH, "NCCL_GANG_TIMEOUT", "NCCL_INIT_TIMEOUT", "NCCL_TEST_ERROR"):
        (report,) = failure("Test", code, "text").reports
        assert (report.is_fatal, report.action) == (False, RecommendedAction.NONE)


@row("warnings of the diagnostic", "different")
def test_a_warning_is_told_and_nothing_is_done_about_it() -> None:
    outcome = judge([DiagResult("memory", "WARN", 0, "warm", (4,))], {0: "GPU-a"})
    (report,) = outcome.reports
    assert (outcome.exit_code, report.is_healthy, report.is_fatal, report.action) == (PASSED, False, False, RecommendedAction.NONE)


@row("pulling of images", "same")
def test_pull_secrets_are_added_to_those_of_the_pod() -> None:
    result = admitted(GPUS, spec={"imagePullSecrets": [{"name": "own"}]}, checks=check("a"), imagePullSecrets=["own", "ours"])
    assert result.injected["spec"]["imagePullSecrets"] == [{"name": "own"}, {"name": "ours"}]


@row("token for the connector", "same")
def test_checks_show_the_connector_a_token_where_it_wants_one() -> None:
    result = admitted(GPUS, checks=check("a"), platformConnector={"token": {"audience": "nvsentinel"}})
    source = volume(result.injected["spec"], "nvsentinel-connector-token")["projected"]["sources"]
    assert source == [{"serviceAccountToken": {"audience": "nvsentinel", "expirationSeconds": 3600, "path": "token"}}]
    assert environment(result)["PLATFORM_CONNECTOR_TOKEN_PATH"] == "/etc/nvsentinel/token"
    assert {"name": "nvsentinel-connector-token", "mountPath": "/etc/nvsentinel", "readOnly": True} in result.patch[0]["value"][0][
        "volumeMounts"
    ]


@row("form of the patch", "same")
@pytest.mark.parametrize(
    ("where", "paths"), [("prepend", ["/spec/initContainers/0", "/spec/initContainers/1"]), ("append", ["/spec/initContainers/-"] * 2)]
)
def test_lists_that_are_there_get_entries_and_others_come_whole(where: str, paths: list[str]) -> None:
    both = [*check("a"), *check("b")]
    present = admitted(GPUS, spec={"initContainers": [{"name": "mine"}]}, checks=both, initContainerPlacement=where)
    assert [one["path"] for one in present.patch if "initContainers" in one["path"]] == paths
    assert [one["path"] for one in admitted(GPUS, checks=both).patch] == ["/spec/initContainers", "/spec/volumes", "/metadata/labels"]


@row("a second injection", "better")
def test_a_second_injection_changes_nothing() -> None:
    once = admitted(GPUS).injected
    assert inject_pod(once, {}).patch == []


@row("requests of checks", "different")
def test_checks_ask_for_devices_and_for_nothing_that_nobody_named() -> None:
    plain, named = (
        admitted(GPUS, checks=check("a", **more)) for more in ({}, {"resources": {"requests": {"cpu": "100m", "nvidia.com/gpu": 1}}})
    )
    resources = [one.patch[0]["value"][0]["resources"] for one in (plain, named)]
    assert resources == [GPUS, {**GPUS, "requests": {"cpu": "100m", "nvidia.com/gpu": 8}}]


@row("claims of checks", "different")
def test_checks_get_the_claims_of_devices_alone() -> None:
    def claim(name: str, device_class: str) -> Manifest:
        spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": device_class}}]}}
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "training"},
            "spec": spec,
        }

    named = [{"name": name, "resourceClaimName": name} for name in ("gpus", "disks", "mnnvl")]
    existing = [
        claim("gpus", "gpu.nvidia.com"),
        claim("disks", "disk.example.com"),
        claim("mnnvl", "compute-domain-default-channel.nvidia.com"),
    ]
    values = {
        "gpuDetection": {"deviceClasses": ["gpu.nvidia.com"]},
        "checks": check("fabric", network=True),
        "networkDetection": {"resourceNames": ["nvidia.com/mlnxnics"]},
    }
    result = admitted({"limits": {"nvidia.com/mlnxnics": 1}}, *existing, spec={"resourceClaims": named}, **values)
    assert result.patch[0]["value"][0]["resources"]["claims"] == [{"name": "gpus"}, {"name": "mnnvl"}]


@row("names of ConfigMaps", "better")
def test_gangs_whose_parts_read_alike_have_two_names() -> None:
    def name(workload: str, group: str) -> str:
        pod = pod_of({"workloadRef": {"name": workload, "podGroup": group}, "containers": [{"name": "main", "resources": DEVICES}]})
        gang = inject_pod(pod, {"checks": check("nccl-allreduce")}).gang
        assert gang is not None
        return gang.config_map

    assert name("a-b", "c") != name("a", "b-c")
    assert name("job", "workers") == "preflight-job-workers"


@row("labels", "different")
def test_pods_bear_what_the_controller_watches_them_by() -> None:
    alone = admitted(GPUS, checks=check("a")).injected["metadata"]["labels"]
    assert alone == {"preflight.grove.io/checked": "true"}
    assert gang_pod("pod-0")["metadata"]["labels"] == {**alone, "preflight.grove.io/gang": "preflight-myworkload-group1"}


@row("metrics", "better")
def test_every_run_is_counted_under_the_design_s_names() -> None:
    registry = CollectorRegistry()
    CheckMetrics(registry, lambda: 0.0)(
        POD_REF, None, pod_with(ended("c1", 1, 'preflight_check_failures_total{check="a",node="n",error_code="SLOW"} 1'))
    )
    assert registry.get_sample_value("preflight_check_failures_total", {"check": "a", "node": "node-1", "error_code": "SLOW"}) == 1


@row("Kubernetes Event on failure", "same")
def test_a_failure_is_told_as_an_event_of_the_pod() -> None:
    (event,) = check_events(pod_with(ended("c1", 1, "# slow")), values_of({}), program())
    assert (event.type, event.reason, event.of.uid) == ("Warning", "PreflightCheckFailed", "uid-1")


@row("rights on ConfigMaps", "better")
def test_only_config_maps_of_gangs_may_be_written() -> None:
    made = manifests(load_values([], ["preflight-injector.enabled=true"]), "grove-system")
    (policy,) = (one for one in made if one["kind"] == "ValidatingAdmissionPolicy")
    assert policy["spec"]["validations"][0]["expression"] == "request.name.startsWith('preflight-')"


@row("names of variables", "better")
def test_checks_are_told_by_the_design_s_names_and_by_the_shipped_ones() -> None:
    (container,) = gang_pod("pod-0")["spec"]["initContainers"]
    found = {one["name"] for one in container["env"]}
    assert {"GANG_TIMEOUT", "MY_POD_NAME", "NCCL_ALLREDUCE_THRESHOLD_GBPS"} <= found
    assert {"GANG_ID", "GANG_CONFIG_DIR", "GANG_TIMEOUT_SECONDS", "MASTER_PORT", "POD_NAME", "POD_IP", "BW_THRESHOLD_GBPS"} <= found
