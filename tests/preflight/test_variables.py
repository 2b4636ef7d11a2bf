"""Every variable that a check reads is given by the injector, or stands in the table of docs/preflight.md, which has no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .injecting import inject_pod, pod_of

ROOT = Path(__file__).parents[2]
READ = re.compile(r'(?:environment\.get\(|(?:whole|seconds|number|required|threshold_of)\(environment, )"([A-Z_]+)"')
BY_TORCHRUN = {"RANK", "LOCAL_RANK"}
CHECKS = ("dcgm-diag", "nccl-loopback", "nccl-allreduce")


def read() -> set[str]:
    return {name for file in (ROOT / "preflight_images").rglob("*.py") for name in READ.findall(file.read_text())} - BY_TORCHRUN


def given() -> set[str]:
    values: dict[str, Any] = {
        "checks": [{"name": name, "image": "i"} for name in CHECKS],
        "gangDiscovery": {"method": "labels"},
        "platformConnector": {"token": {"audience": "nvsentinel"}, "spool": "/var/spool/preflight"},
    }
    devices = {"limits": {"nvidia.com/gpu": 8, "nvidia.com/mlnxnics": 4}}
    labels = {"app.kubernetes.io/gang-id": "g", "app.kubernetes.io/gang-size": "2"}
    made = inject_pod(pod_of({"containers": [{"name": "main", "resources": devices}]}, labels=labels), values).injected
    return {one["name"] for container in made["spec"]["initContainers"] for one in container["env"]}


def listed() -> set[str]:
    section = (ROOT / "docs" / "preflight.md").read_text().split("Settings without a Helm value can be set in a check's `env`:\n\n")[1]
    return {line.split("`")[1] for line in section.split("\n\n")[0].splitlines()[2:]}


def test_the_page_lists_what_checks_read_and_nobody_gives_them() -> None:
    assert listed() == read() - given()
