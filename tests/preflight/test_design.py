"""What ADR-026 prints comes out to the letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.preflight import read_values
from grove_compiler.source.yaml_reader import read_yaml

from .injecting import inject_pod, pod_of

HERE = Path(__file__).parent
PRINTED = yaml.load((HERE / "design-init-containers.yaml").read_text(), yaml.CSafeLoader)["initContainers"]
OURS = {"NODE_NAME", "CHECK_TIMEOUT", "PROCESSING_STRATEGY", "PLATFORM_CONNECTOR_SOCKET", "GANG_ID"}
"""Variables that the design's prose, or the contract of checks, needs beyond those that it prints."""
OF_THE_POD = {"POD_UID"}
"""By which a gang's check knows what is recorded of its pod."""
SHIPPED = {"BW_THRESHOLD_GBPS", "GANG_CONFIG_DIR", "GANG_TIMEOUT_SECONDS", "MASTER_PORT", "POD_NAME", "POD_IP"}
"""The same by the names of NVSentinel's images."""
DETECTION = {"TOPOLOGY_FILES", "INSTANCE_TYPE_LABEL", "TOPOLOGY_FALLBACK"}
"""What a check needs that looks for the topology file of its machine itself (Topology selection priority, Auto-detect)."""


def worked_example() -> list[Manifest]:
    """The init containers of a pod as the design has it: eight GPUs, four NICs, in a gang."""
    checks = [{"name": one["name"].removeprefix("preflight-"), "image": one["image"]} for one in PRINTED]
    devices = {"nvidia.com/gpu": 8, "nvidia.com/mlnxnics": 4}
    containers = [{"name": "main", "resources": {"limits": devices}}]
    pod = pod_of({"workloadRef": {"name": "job", "podGroup": "workers"}, "containers": containers})
    found: list[Manifest] = inject_pod(pod, {"checks": checks}).injected["spec"]["initContainers"]
    return found


def test_the_worked_containers_have_what_is_printed_and_nothing_else() -> None:
    fields = [{key: value for key, value in one.items() if key != "env"} for one in worked_example()]
    assert fields == [{key: value for key, value in one.items() if key != "env"} for one in PRINTED]


def test_the_printed_variables_come_first_and_in_their_order() -> None:
    assert [one["env"][: len(printed["env"])] for one, printed in zip(worked_example(), PRINTED, strict=True)] == [
        printed["env"] for printed in PRINTED
    ]


def test_the_variables_that_come_after_them_are_those_that_checks_need() -> None:
    pairs = zip(worked_example(), PRINTED, strict=True)
    after = [{variable["name"] for variable in one["env"][len(printed["env"]) :]} for one, printed in pairs]
    assert after == [OURS - {"PLATFORM_CONNECTOR_SOCKET", "GANG_ID"}, OURS | SHIPPED | DETECTION | OF_THE_POD]


def test_claims_of_gpus_and_of_the_network_are_mirrored_as_printed() -> None:
    printed: dict[str, Any] = yaml.load((HERE / "design-claims.yaml").read_text(), yaml.CSafeLoader)
    (expected,) = (one["resources"] for one in printed["spec"].pop("initContainers"))
    values = {
        "checks": [{"name": "nvsentinel", "image": "d"}],
        "gpuDetection": {"deviceClasses": ["gpu.nvidia.com"]},
        "networkDetection": {"deviceClasses": ["rdma.nvidia.com"]},
    }
    view = ObjectList([claim("training-gpus", "gpu.nvidia.com"), claim("training-rdma", "rdma.nvidia.com")])
    (container,) = inject_pod(pod_of(printed["spec"]), values, view).injected["spec"]["initContainers"]
    assert {key: value for key, value in container["resources"].items() if value} == expected


def claim(name: str, device_class: str) -> Manifest:
    requests = [{"name": "one", "exactly": {"deviceClassName": device_class}}]
    metadata = {"name": name, "namespace": "training"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": {"requests": requests}}}


def test_the_printed_values_are_taken_as_they_stand() -> None:
    (document,), problems = read_yaml((HERE / "design-values.yaml").read_text(), "values.yaml")
    assert problems == []
    assert read_values(document)[1] == []


def test_the_defaults_are_the_printed_values() -> None:
    printed = yaml.load((HERE / "design-values.yaml").read_text(), yaml.CSafeLoader)["preflight-injector"]
    defaults, _ = read_values(None)
    assert only(defaults.manifest, printed) == printed


def only(value: Any, shape: Any) -> Any:
    """The parts of `value` that `shape` has."""
    if isinstance(shape, dict):
        return {key: only(value.get(key), part) for key, part in shape.items()}
    if isinstance(shape, list) and shape and isinstance(shape[0], dict):
        return [only(item, part) for item, part in zip(value, shape, strict=True)]
    return value
