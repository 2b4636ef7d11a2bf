"""Models the Helm values of the preflight checks (ADR-026). Their structure is valid, with defaults (`api/preflightvalues.py`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.model.declared import declared, optional
from grove_compiler.model.inputs.check_run import CHECK_PREFIX
from grove_compiler.model.lazy import lazy
from grove_compiler.model.preflight.containers import Container
from grove_compiler.record import record

SHARED = {"resources": "checkResources", "securityContext": "checkSecurityContext"}
"""Fields of a check, and the values that checks without them have."""


@record(slots=False)
class PreflightCheck:
    """An entry of `checks`."""

    manifest: Manifest

    name = declared(str, "name")
    env = declared(list[Manifest], "env", "Additional variables; one with the name of a built-in variable replaces it.")
    resources = declared(dict[str, Any], "resources", "The container's resources, besides devices.")
    scope = optional(str, "scope", "Node or Gang; none leaves the scope to the rules.")
    volume_mounts = declared(list[Manifest], "volumeMounts")

    network = optional(bool, "network", "Whether it declares that it needs network devices; none leaves that to the rules.")

    @property
    def is_default(self) -> bool:
        """Whether pods that do not select their checks get it."""
        return self.manifest.get("defaultEnabled") is not False

    @property
    def is_guaranteed(self) -> bool:
        """Whether a pod with its container can have the QoS class Guaranteed: CPU and memory have limits, and the requests equal them."""
        return Container({"resources": self.resources}, "").is_guaranteed

    @property
    def container_name(self) -> str:
        """The name of its init container."""
        return CHECK_PREFIX + self.name

    @lazy
    def container(self) -> Manifest:
        """The fields that its container copies unchanged: image, pull policy, command, arguments, security context."""
        keys = ("image", "imagePullPolicy", "command", "args", "securityContext")
        return {key: self.manifest[key] for key in keys if self.manifest.get(key)}


@record(slots=False)
class Preflight:
    """The Helm values (`preflight` in rules)."""

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
    enable_fallback = optional(bool, "ncclTopology.enableFallback", "False where NCCL may not detect the topology of an unknown machine.")
    topology_files = declared(dict[str, str], "ncclTopology.instanceTypeMapping")
    shared_memory = declared(str, "sharedMemory", "Empty for the container runtime's default.")
    namespaces = declared(list[str], "namespaces")
    excluded_namespaces = declared(list[str], "excludeNamespaces")
    placement = declared(str, "initContainerPlacement", "prepend or append.")
    image_pull_secrets = declared(list[str], "imagePullSecrets")
    strategy = declared(str, "processingStrategy")
    socket = declared(str, "platformConnector.socket")
    socket_host_path = declared(str, "platformConnector.hostPath")
    token_audience = declared(str, "platformConnector.token.audience", "Empty if checks get no token.")
    token_lifetime = declared(int, "platformConnector.token.expirationSeconds")
    lookup_failure_policy = declared(str, "gpuDetection.lookupFailurePolicy", "Fail rejects pods with claims that cannot be looked up.")
    token_folder = declared(str, "platformConnector.token.mountPath")
    spool_folder = declared(str, "platformConnector.spool", "Empty if events that were not sent are lost with the container.")
    pods_may_select = declared(bool, "podSelection")

    namespace_selector = optional(Manifest, "namespaceSelector", "Of the namespaces with checks; none if they are listed by name.")

    @lazy
    def checks(self) -> list[PreflightCheck]:
        """The configured checks, in order, with the resources and the security context that are those of all checks without their own."""
        shared = {own: self.manifest[key] for own, key in SHARED.items() if self.manifest.get(key)}
        return [PreflightCheck({**shared, **entry}) for entry in self.manifest.get("checks") or []]

    @property
    def loopback_threshold(self) -> float:
        """`nccl.loopbackThresholdGBps`, in GB/s. (Helm renders whole numbers as integers.)"""
        return float((self.manifest.get("nccl") or {}).get("loopbackThresholdGBps") or 0)

    @property
    def allreduce_threshold(self) -> float:
        """`nccl.allreduceThresholdGBps`, in GB/s."""
        return float((self.manifest.get("nccl") or {}).get("allreduceThresholdGBps") or 0)

    @property
    def token_source(self) -> Manifest:
        """The projected volume source of the token."""
        return {"serviceAccountToken": {"audience": self.token_audience, "expirationSeconds": self.token_lifetime, "path": "token"}}

    @property
    def socket_folder(self) -> str:
        """The mount path of the folder with the socket."""
        return self.socket.removeprefix("unix://").rpartition("/")[0] or "/"


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Reports whether a name matches one of the globs: `*` matches any text, `?` any character, everything else itself."""
    return _compiled(tuple(patterns)).fullmatch(name) is not None


@lru_cache(maxsize=200)
def _compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Compiles all globs to one expression: a pod may have many variables, and admission should be fast."""
    return re.compile("|".join(map(_expression, globs)) if globs else r"(?!)", re.DOTALL)


def _expression(glob: str) -> str:
    squeezed = re.sub(r"\*+", "*", glob)  # consecutive stars mean the same as one, and would take exponential time
    return "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in squeezed)
