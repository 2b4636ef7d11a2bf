"""PreflightValues: the Helm values of the preflight checks (ADR-026, "Helm Values"), and those that its shipped form taught to need."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from grove_compiler.api.kube import Duration, Kube, Structure, list_map

PREFLIGHT = "preflight.grove.io/v1alpha1"

DEFAULTED: Any = Field(default={})
"""Marks a section that is there with its defaults when the values leave it out."""

EnvVar = Annotated[dict[str, Any], Structure({"ref": "core/v1.EnvVar"})]
VolumeMount = Annotated[dict[str, Any], Structure({"ref": "core/v1.VolumeMount"})]
Resources = Annotated[dict[str, Any], Structure({"ref": "core/v1.ResourceRequirements"})]
SecurityContext = Annotated[dict[str, Any], Structure({"ref": "core/v1.SecurityContext"})]
LabelSelector = Annotated[dict[str, Any], Structure({"ref": "meta/v1.LabelSelector"})]
Policy = Literal["Fail", "Ignore"]


SHIPPED_CHECKS: Any = [
    {"name": "dcgm-diag", "image": "ghcr.io/nvidia/nvsentinel/preflight-dcgm-diag:v1"},
    {"name": "nccl-loopback", "image": "ghcr.io/nvidia/nvsentinel/preflight-nccl-loopback:v1"},
]


class Section(Kube):
    """A part of the values."""

    package: ClassVar[str] = PREFLIGHT


class Check(Section):
    """A check: one of ours by its name, or anybody's."""

    name: Annotated[str, Field(min_length=1, max_length=52, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    """Name of the check; its init container is called `preflight-NAME`."""
    image: Annotated[str, Field(min_length=1)]
    """Image of the init container."""
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """When the image is pulled, as for any container."""
    default_enabled: bool = True
    """Whether pods get the check that do not choose theirs."""
    scope: Literal["Node", "Gang"] | None = None
    """Whether the check runs across a gang; ours know that of themselves, and others are for one node."""
    network: bool | None = None
    """Whether it needs network devices and NCCL's settings; ours know that of themselves, and others need none."""
    command: list[str] = []
    """Command, in place of the image's own."""
    args: list[str] = []
    """Arguments of the command."""
    env: Annotated[list[EnvVar], list_map("name")] = []
    """Variables besides ours; one of the same name as ours counts instead of it."""
    resources: Annotated[Resources | None, Field()] = None
    """What the container asks for besides devices."""
    security_context: Annotated[SecurityContext | None, Field()] = None
    """Security context of the container."""
    volume_mounts: Annotated[list[VolumeMount], list_map("mountPath")] = []
    """Mounts of volumes that the pod has."""


class Dcgm(Section):
    """What the DCGM diagnostic is told."""

    hostengine_addr: str = "dcgm-hostengine.nvsentinel.svc:5555"
    """Address of DCGM's Service, which has to lead to the engine of the pod's own node (`internalTrafficPolicy: Local`)."""
    diag_level: Annotated[int, Field(ge=1, le=4)] = 1
    """1 takes some 30 s, 2 two to three minutes, 3 a quarter of an hour, 4 one to two hours."""


class Nccl(Section):
    """Thresholds of the NCCL tests."""

    loopback_threshold_gbps: Annotated[float, Field(ge=0, alias="loopbackThresholdGBps")] = 10.0
    """Least bus bandwidth inside of a node, in GB/s."""
    allreduce_threshold_gbps: Annotated[float, Field(ge=0, alias="allreduceThresholdGBps")] = 5.0
    """Least bus bandwidth across a gang, in GB/s."""


class GangLabels(Section):
    """Labels by which a gang is known."""

    gang_id_label: str = "app.kubernetes.io/gang-id"
    """Label that pods of one gang share."""
    gang_size_label: str = "app.kubernetes.io/gang-size"
    """Label that says how many pods the gang has."""


class GangDiscovery(Section):
    """How the gang of a pod is found."""

    method: Literal["workloadRef", "volcano", "kueue", "labels", "grove"] = "workloadRef"
    """Whose gangs they are. Grove's own PodGangs are known beside each of the others."""
    labels: GangLabels = DEFAULTED
    """Labels of the method `labels`."""


class Detection(Section):
    """What counts as a device of a sort."""

    resource_names: list[str] = []
    """Extended resources of device plugins."""
    device_classes: list[str] = []
    """DeviceClasses of dynamic resource allocation."""


class GpuDetection(Detection):
    """What counts as a GPU."""

    resource_names: list[str] = ["nvidia.com/gpu"]
    """Extended resources of device plugins."""
    lookup_failure_policy: Policy = "Ignore"
    """Whether a pod passes whose claims cannot be looked up."""


class NetworkDetection(Detection):
    """What counts as a network device."""

    resource_names: list[str] = ["nvidia.com/mlnxnics"]
    """Extended resources of device plugins."""


class NcclTopology(Section):
    """Which topology file NCCL is given where the user gives none."""

    instance_type_label: str = "node.kubernetes.io/instance-type"
    """Label of nodes that says what they are."""
    instance_type_mapping: dict[str, str] = {
        "Standard_ND96isr_H100_v5": "azure-ndv5.xml",
        "Standard_ND96amsr_A100_v4": "azure-ndv4.xml",
        "p5.48xlarge": "aws-p5.48xlarge.xml",
        "a3-megagpu-8g": "gcp-a3-mega.xml",
    }
    """File in the images for a type of machine."""
    enable_fallback: bool = True
    """Whether NCCL may find the topology out by itself on a machine that is not in the mapping."""


class ConnectorToken(Section):
    """The service account's token by which a check shows the connector who it is."""

    audience: str = ""
    """For whom the token is; without it checks get none."""
    expiration_seconds: Annotated[int, Field(ge=600, le=4294967296)] = 3600
    """How long a token counts; the kubelet renews it before that."""
    mount_path: Annotated[str, Field(pattern="^/.+$")] = "/etc/nvsentinel"
    """Folder of the token, whose file is called `token`."""


class PlatformConnector(Section):
    """Where health events go."""

    socket: Annotated[str, Field(pattern="^unix:///.+$")] = "unix:///var/run/nvsentinel.sock"
    """Address of the connector, as checks see it."""
    host_path: Annotated[str, Field(pattern="^/.+$")] = "/var/run/nvsentinel"
    """Folder of the node that holds the socket."""
    token: ConnectorToken = DEFAULTED
    """The service account's token by which a check shows the connector who it is."""
    spool: Annotated[str, Field(pattern="^(/.+)?$")] = ""
    """Folder in checks, such as `/var/spool/preflight`, for events that are not sent yet; without it they go with the container."""


class Webhook(Section):
    """The admission webhook."""

    failure_policy: Policy = "Fail"
    """Whether pods are made while the webhook is away."""
    timeout_seconds: Annotated[int, Field(ge=1, le=30)] = 10
    """How long an API server waits for an answer."""


class PreflightValues(Section):
    """The Helm values of the preflight checks."""

    enabled: bool = False
    """Whether the chart installs them; whoever calls the injector by hand has answered that."""
    replicas: Annotated[int, Field(ge=0)] = 2
    """Pods of the injector; all of them answer."""
    resources: Resources = {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}
    """Resources of its container."""
    checks: Annotated[list[Check], list_map("name")] = SHIPPED_CHECKS
    """The checks, in the order in which they run."""
    dcgm: Dcgm = DEFAULTED
    """What the DCGM diagnostic is told."""
    nccl: Nccl = DEFAULTED
    """Thresholds of the NCCL tests."""
    check_timeout: Duration = "300s"
    """Longest time that one check takes."""
    gang_timeout: Duration = "600s"
    """Longest time that a gang takes to form."""
    gang_discovery: GangDiscovery = DEFAULTED
    """How the gang of a pod is found."""
    gpu_detection: GpuDetection = DEFAULTED
    """What counts as a GPU."""
    network_detection: NetworkDetection = DEFAULTED
    """What counts as a network device."""
    nccl_env_patterns: list[str] = ["NCCL_*", "UCX_*", "OMPI_*"]
    """Globs of the variables that checks of the network take over from the pod's containers."""
    nccl_topology: NcclTopology = DEFAULTED
    """Which topology file NCCL is given where the user gives none."""
    volume_mount_patterns: list[str] = []
    """Globs of volumes whose mounts checks of the network take over, such as those of a provider's libraries."""
    shared_memory: Annotated[str, Field(pattern="^([0-9]+(Mi|Gi))?$")] = ""
    """Memory at /dev/shm, such as `8Gi`, for NCCL checks of pods that bring none; its ranks may need more than containers have."""
    namespaces: list[str] = ["training"]
    """Namespaces whose GPU pods are checked."""
    namespace_selector: Annotated[LabelSelector | None, Field()] = None
    """Labels of the namespaces whose GPU pods are checked, in place of their names."""
    object_selector: Annotated[LabelSelector | None, Field()] = None
    """Labels of the pods that the webhook is asked about; all pods without it."""
    exclude_namespaces: list[str] = ["nvsentinel", "kube-system", "kube-public", "kube-node-lease"]
    """Namespaces whose pods never are."""
    webhook: Webhook = DEFAULTED
    """The admission webhook."""
    init_container_placement: Literal["prepend", "append"] = "prepend"
    """Whether checks run before or after the pod's own init containers; some providers set devices up in theirs."""
    pod_selection: bool = False
    """Whether pods may choose their checks by the annotation `nvsentinel.nvidia.com/preflight-checks`."""
    image_pull_secrets: list[str] = []
    """Secrets of the pod's namespace by which the images are pulled."""
    processing_strategy: Literal["EXECUTE_REMEDIATION", "STORE_ONLY"] = "EXECUTE_REMEDIATION"
    """What is done about health events; those that are only stored stop no pod."""
    platform_connector: PlatformConnector = DEFAULTED
    """Where health events go."""
