"""The Helm values of the preflight checks (ADR-026), as rules see them. They come checked and defaulted (`api/preflightvalues.py`)."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.duration import seconds
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.containers import Container
from grove_compiler.model.spec.declared import declared, optional
from grove_compiler.record import record


@record(slots=False)
class Check:
    """An entry of `checks`."""

    manifest: Manifest

    name = declared(str, "name")
    env = declared(list[Manifest], "env", "Variables besides ours; one of the same name counts instead of ours.")
    resources = declared(dict[str, Any], "resources", "What the container asks for besides devices.")
    scope = optional(str, "scope", "Node or Gang; none leaves it to the rules.")
    volume_mounts = declared(list[Manifest], "volumeMounts")

    @property
    def is_default(self) -> bool:
        """Whether pods get it that choose no checks."""
        return self.manifest.get("defaultEnabled") is not False

    @property
    def is_guaranteed(self) -> bool:
        """Whether its container leaves a pod Guaranteed: it has limits of CPU and memory, and asks for no less."""
        return Container({"resources": self.resources}, "").is_guaranteed

    @property
    def network(self) -> bool | None:
        """Whether it says that it needs network devices; none leaves it to the rules."""
        return self.manifest.get("network")

    @property
    def container_name(self) -> str:
        """The name of its init container."""
        return f"preflight-{self.name}"

    @lazy
    def container(self) -> Manifest:
        """What is said of the container word for word: image, pull policy, command, arguments, security context."""
        keys = ("image", "imagePullPolicy", "command", "args", "securityContext")
        return {key: self.manifest[key] for key in keys if self.manifest.get(key)}


@record(slots=False)
class Preflight:
    """The values: rules call them `preflight`."""

    manifest: Manifest

    check_timeout = declared(str, "checkTimeout")
    dcgm_address = declared(str, "dcgm.hostengineAddr")
    dcgm_level = declared(int, "dcgm.diagLevel")
    gang_timeout = declared(str, "gangTimeout")
    gang_method = declared(str, "gangDiscovery.method")
    gang_id_label = declared(str, "gangDiscovery.labels.gangIdLabel")
    gang_size_label = declared(str, "gangDiscovery.labels.gangSizeLabel")
    gpu_resources = declared(list[str], "gpuDetection.resourceNames")
    gpu_classes = declared(list[str], "gpuDetection.deviceClasses")
    network_resources = declared(list[str], "networkDetection.resourceNames")
    network_classes = declared(list[str], "networkDetection.deviceClasses")
    env_patterns = declared(list[str], "ncclEnvPatterns")
    mount_patterns = declared(list[str], "volumeMountPatterns")
    instance_type_label = declared(str, "ncclTopology.instanceTypeLabel")
    topology_files = declared(dict[str, str], "ncclTopology.instanceTypeMapping")
    shared_memory = declared(str, "sharedMemory", "Empty for what containers have anyway.")
    namespaces = declared(list[str], "namespaces")
    excluded_namespaces = declared(list[str], "excludeNamespaces")
    placement = declared(str, "initContainerPlacement", "prepend or append.")
    image_pull_secrets = declared(list[str], "imagePullSecrets")
    strategy = declared(str, "processingStrategy")
    socket = declared(str, "platformConnector.socket")
    socket_host_path = declared(str, "platformConnector.hostPath")
    token_audience = declared(str, "platformConnector.token.audience", "Empty where checks get no token.")
    token_lifetime = declared(int, "platformConnector.token.expirationSeconds")
    token_folder = declared(str, "platformConnector.token.mountPath")
    spool_folder = declared(str, "platformConnector.spool", "Empty where events that are not sent go with the container.")
    pods_may_select = declared(bool, "podSelection")

    @lazy
    def checks(self) -> list[Check]:
        """The checks that are configured, in order."""
        return [Check(entry) for entry in self.manifest.get("checks") or []]

    @property
    def loopback_threshold(self) -> float:
        """`nccl.loopbackThresholdGBps`, in GB/s; Helm writes whole numbers without a point."""
        return float((self.manifest.get("nccl") or {}).get("loopbackThresholdGBps") or 0)

    @property
    def allreduce_threshold(self) -> float:
        """`nccl.allreduceThresholdGBps`, in GB/s."""
        return float((self.manifest.get("nccl") or {}).get("allreduceThresholdGBps") or 0)

    @property
    def gang_timeout_seconds(self) -> int:
        """`gangTimeout` in seconds."""
        return int(seconds(self.gang_timeout or "0s"))

    @property
    def namespace_selector(self) -> Manifest | None:
        """Labels of the namespaces with checks; none where their names are listed."""
        return self.manifest.get("namespaceSelector")

    @property
    def refuses_failed_lookups(self) -> bool:
        """Whether a pod is refused whose claims cannot be looked up."""
        return (self.manifest.get("gpuDetection") or {}).get("lookupFailurePolicy") == "Fail"

    @property
    def allows_unknown_machines(self) -> bool:
        """Whether NCCL may find the topology of a machine that is not in the mapping."""
        return (self.manifest.get("ncclTopology") or {}).get("enableFallback") is not False

    @property
    def token_source(self) -> Manifest:
        """What the kubelet projects as the token."""
        return {
            "serviceAccountToken": {"audience": self.token_audience, "expirationSeconds": self.token_lifetime, "path": "token"},
        }

    @property
    def socket_folder(self) -> str:
        """Where the folder of the socket is mounted."""
        return self.socket.removeprefix("unix://").rpartition("/")[0] or "/"
