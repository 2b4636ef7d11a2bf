"""Helm values that are wrong are told with their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grove_compiler.kube.definitions import DEFINITIONS
from grove_compiler.preflight import VALUES_SCHEMA, read_values
from grove_compiler.preflight_values import VARIABLES
from grove_compiler.source.document import Document
from grove_compiler.source.yaml_reader import read_yaml
from tests.suite.rows import rows

from .injecting import inject_pod, pod_of


@rows(
    ("text", "path", "line", "nearest"),
    [
        ("dcgm: {diagLevl: 2}", "dcgm.diagLevl", 1, "diagLevel"),
        ("preflight-injector:\n  dcgm: {diagLevel: 9}", "preflight-injector.dcgm.diagLevel", 2, ""),
        ("checks:\n- {name: a, image: b}\n- {name: a, image: c}", "checks[1]", 3, ""),
        ("checks:\n- {name: A B, image: b}", "checks[0].name", 2, ""),
        ("checks:\n- {name: a}", "checks[0].image", 2, ""),
        ("gangDiscovery: {method: slurm}", "gangDiscovery.method", 1, ""),
        ("initContainerPlacement: before", "initContainerPlacement", 1, ""),
        ("checkTimeout: soon", "checkTimeout", 1, ""),
        ("platformConnector: {socket: /var/run/a.sock}", "platformConnector.socket", 1, ""),
        ("[]", "", 1, ""),
    ],
)
def test_a_wrong_value_is_told_with_its_place(text: str, path: str, line: int, nearest: str) -> None:
    (document,), _ = read_yaml(text, "values.yaml")
    (finding,) = read_values(document)[1]
    assert (finding.severity, finding.path, finding.line, finding.nearest) == ("error", path, line, nearest)


def test_an_empty_file_means_the_defaults() -> None:
    (document,), _ = read_yaml("preflight-injector:\n", "values.yaml")
    assert read_values(document)[0].manifest == read_values(None)[0].manifest


WITHOUT_MEANING: dict[str, list[Any]] = {
    "checkTimeout": ["0s", "-5s", "0", "0h0m0s", "-1h30m", "1ms", "0.5s", "-0s", "999ms"],
    "gangTimeout": ["0s", "-5s", "0", "0h0m0s", "-1h30m", "1ms", "0.5s"],
    "dcgm.diagLevel": [0, -1, 5],
    "dcgm.hostengineAddr": ["", "engine:0", "engine:65536", "engine:-1", "engine:port", ":5555"],
    "nccl.loopbackThresholdGBps": [-1, -0.1, float("inf"), float("nan"), 1e300],
    "nccl.allreduceThresholdGBps": [-1, float("-inf"), float("nan")],
    "gangDiscovery.labels.gangIdLabel": [""],
    "gangDiscovery.labels.gangSizeLabel": [""],
    "ncclTopology.instanceTypeLabel": [""],
    "sharedMemory": ["0Gi", "-8Gi", "8", "00Mi", "99999999Gi"],
    "platformConnector.token.expirationSeconds": [0, -1, 599, 1 << 33],
    "platformConnector.token.mountPath": ["/var/run", "/var/run/", "/etc/preflight"],
    "platformConnector.spool": ["/var/run", "/etc/preflight/"],
    "platformConnector.socket": ["unix:///etc/preflight/nvsentinel.sock"],
    "webhook.timeoutSeconds": [0, 31, -1],
    "replicas": [-1],
    "resources.limits.memory": ["-1Gi"],
    "resources.requests.cpu": ["-50m"],
    "checks[0].resources.limits.cpu": [-1, "-100m"],
    "checks[0].resources.requests.cpu": ["3", "-1"],
    "checks[0].resources.claims": [[{"name": "gpus"}]],
    "checkResources.limits.cpu": [-1],
    "checkResources.claims": [[{"name": "gpus"}]],
    "checkSecurityContext.runAsUser": [-1],
    "checks[0].securityContext.runAsUser": [-1],
    "checks[0].securityContext.runAsGroup": [-1],
    **{f"checks[0].env[0].value={name}": ["0s", "-5s", "0", "soon"] for name in ("CHECK_TIMEOUT", "GANG_TIMEOUT")},
    **{f"checks[0].env[0].value={name}": ["-1", "nan", "inf", "many"] for name in VARIABLES if "GBPS" in name},
    **{f"checks[0].env[0].value={name}": ["-1", "1.5", "9999999999"] for name in ("DCGM_DIAG_LEVEL", "MASTER_PORT", "NPROCS_PER_NODE")},
    **{f"checks[0].env[0].value={name}": ["-1", "x", "99999"] for name in VARIABLES if name.endswith(("ITERS", "SECONDS", "ATTEMPTS"))},
}
"""By the path of a value, which of its forms nobody can mean."""
SENSIBLE: dict[str, list[Any]] = {
    "checkTimeout": ["1s", "300s", "1h30m", "0.5h", "1500ms", "0h10m", "90m"],
    "gangTimeout": ["1s", "10m", "0h0m1s"],
    "dcgm.hostengineAddr": ["engine", "engine:5555", "10.0.0.1:5555", "[fd00::1]:5555", "fd00::1", "unix:///run/engine"],
    "nccl.loopbackThresholdGBps": [0, 0.1, 450],
    "sharedMemory": ["", "8Gi", "512Mi"],
    "platformConnector.token.mountPath": ["/etc/nvsentinel", "/var/run/nvsentinel"],
    "platformConnector.spool": ["", "/var/spool/preflight"],
    "replicas": [0, 3],
    "checks[0].resources.limits.cpu": [2, "200m"],
    "checks[0].env[0].value=CHECK_TIMEOUT": ["1h", "300"],
    "checks[0].env[0].value=MASTER_PORT": ["1", "65535"],
}


def with_value(path: str, value: Any) -> dict[str, Any]:
    """Values that are right but for one, which stands at this path."""
    path, _, variable = path.partition("=")
    check: dict[str, Any] = {"name": "dcgm-diag", "image": "d", "resources": {"limits": {"cpu": 2}, "requests": {"cpu": "100m"}}}
    values: dict[str, Any] = {"checks": [check], "platformConnector": {"token": {"audience": "a"}}, "gangDiscovery": {"labels": {}}}
    if variable:
        check["env"] = [{"name": variable, "value": value}]
        return values
    inner, keys = values, path.replace("checks[0].", "").split(".")
    inner = check if path.startswith("checks[0]") else values
    for key in keys[:-1]:
        inner = inner.setdefault(key, {})
    inner[keys[-1]] = value
    return values


@rows(("path", "value"), [(path, value) for path, values in WITHOUT_MEANING.items() for value in values])
def test_a_value_that_nobody_can_mean_is_refused(path: str, value: Any) -> None:
    found = read_values(Document(with_value(path, value)))[1]
    assert [one.severity for one in found] == ["error"]
    assert found[0].path in (path.partition("=")[0], path.replace("limits", "requests"))


@rows(("path", "value"), [(path, value) for path, values in SENSIBLE.items() for value in values])
def test_a_value_that_one_may_mean_is_taken(path: str, value: Any) -> None:
    assert read_values(Document(with_value(path, value)))[1] == []


def numbers(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of the values that are numbers or durations."""
    while "ref" in schema:
        if not schema["ref"].startswith("preflight."):
            return
        schema = DEFINITIONS[schema["ref"]]
    for name, field in schema.get("fields", {}).items():
        inner = f"{path}.{name}" if path else name
        if field.get("kind") in ("integer", "number", "duration"):
            yield inner
        yield from numbers(field, inner)


def test_every_number_of_the_values_has_a_row() -> None:
    assert set(numbers(VALUES_SCHEMA)) - set(WITHOUT_MEANING) == set()


def test_checks_of_others_may_use_the_variables_as_they_like() -> None:
    check = {"name": "bandwidth-check", "image": "b", "env": [{"name": "CHECK_TIMEOUT", "value": "never"}]}
    assert read_values(Document({"checks": [check]}))[1] == []


SMALL = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
QUIET = {"allowPrivilegeEscalation": False}


def test_checks_without_their_own_share_resources_and_a_security_context() -> None:
    own = {"name": "own", "image": "i", "resources": {"limits": {"cpu": "2"}}, "securityContext": {"runAsUser": 7}}
    values = {"checks": [{"name": "plain", "image": "i"}, own], "checkResources": SMALL, "checkSecurityContext": QUIET}
    box = {"name": "box", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    spec = inject_pod(pod_of({"containers": [box]}), values).injected["spec"]
    plain, other = spec["initContainers"]
    assert (plain["resources"]["requests"]["memory"], plain["resources"]["limits"]["cpu"], plain["securityContext"]) == ("1Gi", "1", QUIET)
    assert (other["resources"]["limits"]["cpu"], other["securityContext"]) == ("2", {"runAsUser": 7})
    assert plain["resources"]["limits"]["nvidia.com/gpu"] == 8
