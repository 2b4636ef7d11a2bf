"""PreflightValues: the Helm values of the preflight checks (ADR-026, "Helm Values"), and additional ones of its upstream form."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from grove_compiler.api.kube import Kube, Resources, SecurityContext, Structure, list_map

PREFLIGHT = "preflight.grove.io/v1alpha1"

DEFAULTED: Any = Field(default={})
"""Marks a section that has its defaults when the values omit it."""

EnvVar = Annotated[dict[str, Any], Structure({"ref": "core/v1.EnvVar"})]
VolumeMount = Annotated[dict[str, Any], Structure({"ref": "core/v1.VolumeMount"})]
LabelSelector = Annotated[dict[str, Any], Structure({"ref": "meta/v1.LabelSelector"})]
Policy = Literal["Fail", "Ignore"]
PART = r"[0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h)"
LONG_PART = r"([0-9]*[1-9][0-9]*(\.[0-9]+)?(s|m|h)|[0-9]*[1-9][0-9]{3,}(\.[0-9]+)?ms|0*\.[0-9]*[1-9][0-9]*(m|h))"
Timeout = Annotated[str, Field(pattern=f"^({PART})*{LONG_PART}({PART})*$"), Structure({"kind": "duration", "minimum": "1s"})]
"""A duration of a second at least: with less no check would ever pass. Helm knows only the pattern."""
Text = Annotated[str, Field(min_length=1)]
"""A text that is not empty."""
Bandwidth = Annotated[float, Field(ge=0, le=100_000)]
"""GB/s; no link has as much as the limit, which keeps out numbers that checks cannot read."""


DEFAULT_CHECKS: Any = [
    {"name": "dcgm-diag", "image": "ghcr.io/nvidia/nvsentinel/preflight-dcgm-diag:v1"},
    {"name": "nccl-loopback", "image": "ghcr.io/nvidia/nvsentinel/preflight-nccl-loopback:v1"},
]


class _Section(Kube):
    """A section of the values."""

    package: ClassVar[str] = PREFLIGHT


class Check(_Section):
    """A check: a built-in one by its name, or a custom one."""

    name: Annotated[str, Field(min_length=1, max_length=52, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    """Name of the check; its init container is `preflight-NAME`."""
    image: Annotated[str, Field(min_length=1)]
    """Image of the init container."""
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """Pull policy of the image."""
    default_enabled: bool = True
    """Whether pods that do not select their checks get it."""
    scope: Literal["Node", "Gang"] | None = None
    """Whether the check runs on one node or across a gang; by default custom checks run on one node."""
    network: bool | None = None
    """Whether it needs network devices and NCCL's settings; by default a custom check needs none, and gets the devices that its pod has."""
    command: list[str] = []
    """Command, instead of the image's entrypoint."""
    args: list[str] = []
    """Arguments of the command."""
    env: Annotated[list[EnvVar], list_map("name")] = []
    """Additional variables; one with the name of a built-in variable replaces it."""
    resources: Annotated[Resources | None, Field()] = None
    """Resources of the container, besides devices."""
    security_context: Annotated[SecurityContext | None, Field()] = None
    """Security context of the container."""
    volume_mounts: Annotated[list[VolumeMount], list_map("mountPath")] = []
    """Additional mounts, of volumes of the pod."""


class Dcgm(_Section):
    """Settings of the DCGM diagnostic."""

    hostengine_addr: Text = "dcgm-hostengine.nvsentinel.svc:5555"
    """Address of DCGM's Service, which has to route to the host engine of the pod's own node (`internalTrafficPolicy: Local`)."""
    diag_level: Annotated[int, Field(ge=1, le=4)] = 1
    """Level of the diagnostic: 1 takes about 30 s, 2 two to three minutes, 3 a quarter of an hour, 4 one to two hours."""


class Nccl(_Section):
    """Thresholds of the NCCL tests."""

    loopback_threshold_gbps: Annotated[Bandwidth, Field(alias="loopbackThresholdGBps")] = 10.0
    """Minimum bus bandwidth inside a node, in GB/s."""
    allreduce_threshold_gbps: Annotated[Bandwidth, Field(alias="allreduceThresholdGBps")] = 5.0
    """Minimum bus bandwidth across a gang, in GB/s."""


class GangLabels(_Section):
    """Labels that identify a gang."""

    gang_id_label: Text = "app.kubernetes.io/gang-id"
    """Label with the gang's id, which its pods share."""
    gang_size_label: Text = "app.kubernetes.io/gang-size"
    """Label with the number of pods of the gang."""


class GangDiscovery(_Section):
    """Discovery of a pod's gang."""

    method: Literal["workloadRef", "volcano", "kueue", "labels", "grove"] = "workloadRef"
    """Method of discovery. Grove's PodGangs are discovered with each method."""
    labels: GangLabels = DEFAULTED
    """Labels of the method `labels`."""


class Detection(_Section):
    """Detection of a kind of device."""

    resource_names: list[str] = []
    """Extended resources of device plugins."""
    device_classes: list[str] = []
    """DeviceClasses of dynamic resource allocation."""


class GpuDetection(Detection):
    """Detection of GPUs."""

    resource_names: list[str] = ["nvidia.com/gpu"]
    """Extended resources of device plugins."""
    lookup_failure_policy: Policy = "Ignore"
    """Whether a pod with claims that cannot be looked up is rejected (Fail) or admitted (Ignore)."""


class NetworkDetection(Detection):
    """Detection of network devices."""

    resource_names: list[str] = ["nvidia.com/mlnxnics"]
    """Extended resources of device plugins."""


class NcclTopology(_Section):
    """Topology file for NCCL, unless the pod provides one."""

    instance_type_label: Text = "node.kubernetes.io/instance-type"
    """Node label with the instance type."""
    instance_type_mapping: dict[str, str] = {
        "Standard_ND96isr_H100_v5": "azure-ndv5.xml",
        "Standard_ND96amsr_A100_v4": "azure-ndv4.xml",
        "p5.48xlarge": "aws-p5.48xlarge.xml",
        "a3-megagpu-8g": "gcp-a3-mega.xml",
    }
    """Topology file in the images by instance type."""
    enable_fallback: bool = True
    """Whether NCCL detects the topology itself for an instance type that is not in the mapping."""


class ConnectorToken(_Section):
    """Service account token with which a check authenticates to the connector."""

    audience: str = ""
    """Audience of the token; checks get no token without one."""
    expiration_seconds: Annotated[int, Field(ge=600, le=4294967296)] = 3600
    """Lifetime of the token; the kubelet renews it before it expires."""
    mount_path: Annotated[str, Field(pattern="^/.+$")] = "/etc/nvsentinel"
    """Mount path of the token, whose file is `token`."""


class PlatformConnector(_Section):
    """The connector that receives health events."""

    socket: Annotated[str, Field(pattern="^unix:///.+$")] = "unix:///var/run/nvsentinel.sock"
    """Address of the connector inside check containers."""
    host_path: Annotated[str, Field(pattern="^/.+$")] = "/var/run/nvsentinel"
    """Folder of the socket on the node."""
    token: ConnectorToken = DEFAULTED
    """Service account token with which a check authenticates to the connector."""
    spool: Annotated[str, Field(pattern="^(/.+)?$")] = ""
    """Folder in check containers, such as `/var/spool/preflight`, for unsent events; without it they are lost with the container."""


class Webhook(_Section):
    """The admission webhook."""

    failure_policy: Policy = "Fail"
    """Whether pods are rejected (Fail) or admitted (Ignore) while the webhook is unavailable."""
    timeout_seconds: Annotated[int, Field(ge=1, le=30)] = 10
    """Timeout of the API server's request."""


class PreflightValues(_Section):
    """The Helm values of the preflight checks."""

    enabled: bool = False
    """Whether the chart installs the injector; commands ignore it."""
    replicas: Annotated[int, Field(ge=0)] = 2
    """Replicas of the injector; all of them are active."""
    resources: Resources = {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}
    """Resources of the injector's container."""
    checks: Annotated[list[Check], list_map("name")] = DEFAULT_CHECKS
    """The checks, in the order of their execution."""
    check_resources: Annotated[Resources | None, Field()] = None
    """Resources, besides devices, of checks without their own: required where a quota limits CPU or memory."""
    check_security_context: Annotated[SecurityContext | None, Field()] = None
    """Security context of checks without their own."""
    dcgm: Dcgm = DEFAULTED
    """Settings of the DCGM diagnostic."""
    nccl: Nccl = DEFAULTED
    """Thresholds of the NCCL tests."""
    check_timeout: Timeout = "300s"
    """Timeout of a check."""
    gang_timeout: Timeout = "600s"
    """Timeout of waiting for the gang."""
    gang_discovery: GangDiscovery = DEFAULTED
    """Discovery of a pod's gang."""
    gpu_detection: GpuDetection = DEFAULTED
    """Detection of GPUs."""
    network_detection: NetworkDetection = DEFAULTED
    """Detection of network devices."""
    nccl_env_patterns: list[str] = ["NCCL_*", "UCX_*", "OMPI_*"]
    """Globs of the variables that network checks copy from the pod's containers."""
    nccl_topology: NcclTopology = DEFAULTED
    """Topology file for NCCL, unless the pod provides one."""
    volume_mount_patterns: list[str] = []
    """Globs of the volumes whose mounts network checks copy, such as those of a provider's libraries."""
    shared_memory: Annotated[str, Field(pattern="^([1-9][0-9]{0,6}(Mi|Gi))?$")] = ""
    """Memory at /dev/shm, such as `8Gi`, for NCCL checks of pods that mount none; NCCL may need more than the default of 64Mi."""
    namespaces: list[str] = ["training"]
    """Namespaces whose GPU pods are checked."""
    namespace_selector: Annotated[LabelSelector | None, Field()] = None
    """Label selector of the namespaces whose GPU pods are checked, instead of their names."""
    object_selector: Annotated[LabelSelector | None, Field()] = None
    """Label selector of the pods that the webhook receives; all pods without it."""
    exclude_namespaces: list[str] = ["nvsentinel", "kube-system", "kube-public", "kube-node-lease"]
    """Namespaces whose pods are never checked."""
    webhook: Webhook = DEFAULTED
    """The admission webhook."""
    init_container_placement: Literal["prepend", "append"] = "prepend"
    """Whether checks run before or after the pod's own init containers, in which some providers set up devices."""
    pod_selection: bool = False
    """Whether pods may select their checks with the annotation `nvsentinel.nvidia.com/preflight-checks`."""
    image_pull_secrets: list[str] = []
    """Image pull secrets, in the pod's namespace."""
    processing_strategy: Literal["EXECUTE_REMEDIATION", "STORE_ONLY"] = "EXECUTE_REMEDIATION"
    """Processing of health events; with STORE_ONLY a failed check does not block its pod."""
    platform_connector: PlatformConnector = DEFAULTED
    """The connector that receives health events."""
