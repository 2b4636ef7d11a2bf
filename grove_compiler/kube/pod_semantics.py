"""Lists what an API server fills into pods, what absent fields mean, and which lists have no order, which no published schema says."""

from __future__ import annotations

from typing import Any

SERVER_DEFAULTS: dict[str, dict[str, Any]] = {
    "core/v1.PodSpec": {"dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "securityContext": {}},
    "core/v1.Container": {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "securityContext": {}},
    "core/v1.Probe": {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    "core/v1.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core/v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core/v1.SecretVolumeSource": {"defaultMode": 420},
    "core/v1.ConfigMapVolumeSource": {"defaultMode": 420},
    "core/v1.DownwardAPIVolumeSource": {"defaultMode": 420},
    "core/v1.ProjectedVolumeSource": {"defaultMode": 420},
    "core/v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core/v1.HostPathVolumeSource": {"type": ""},
    "core/v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core/v1.AzureDiskVolumeSource": {"cachingMode": "ReadWrite", "kind": "Shared"},
}
"""What an API server fills in when it creates a pod, beyond the schemas' defaults (pkg/apis/core/v1/defaults.go).

Three are left out on purpose: our own rules set scheduler, restart policy and grace period of a set's pods, not the server.
"""
REFERENCES = ("EnvSource", "KeySelector", "Projection", "VolumeSource")
MEANINGS: dict[str, dict[str, Any]] = {
    "core/v1.PodSpec": {"affinity": {}, "dnsConfig": {}, "hostUsers": True, "setHostnameAsFQDN": False, "shareProcessNamespace": False},
    "core/v1.Affinity": {"nodeAffinity": {}, "podAffinity": {}, "podAntiAffinity": {}},
    "core/v1.Toleration": {"operator": "Equal"},
    "core/v1.Container": {"lifecycle": {}},
    "core/v1.SecurityContext": {"capabilities": {}, "privileged": False, "procMount": "Default", "readOnlyRootFilesystem": False},
    "core/v1.VolumeMount": {"mountPropagation": "None", "recursiveReadOnly": "Disabled"},
    **{f"core/v1.{kind}{use}": {"optional": False} for kind in ("ConfigMap", "Secret") for use in REFERENCES},
}
"""What an absent field means to those who read pods, though no server writes it."""
DEFAULTS = {struct: MEANINGS.get(struct, {}) | SERVER_DEFAULTS.get(struct, {}) for struct in {**MEANINGS, **SERVER_DEFAULTS}}
PULLED: dict[str, tuple[str, str]] = {
    "core/v1.Container": ("image", "imagePullPolicy"),
    "core/v1.ImageVolumeSource": ("reference", "pullPolicy"),
}
"""Structs with an image, and a policy whose default depends on its tag."""
NOT_RESTARTED = "NotRequired"
"""How a container takes other resources where `resizePolicy` does not say it; some servers before Kubernetes 1.35 write it out."""
POD_TERMS = ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution")
SOURCES_OF_FILES = (
    "ConfigMapVolumeSource",
    "ConfigMapProjection",
    "SecretVolumeSource",
    "SecretProjection",
    "DownwardAPIVolumeSource",
    "DownwardAPIProjection",
)
UNORDERED: dict[str, tuple[str, ...]] = {
    "core/v1.PodSpec": (
        "volumes",
        "tolerations",
        "imagePullSecrets",
        "resourceClaims",
        "readinessGates",
        "schedulingGates",
        "topologySpreadConstraints",
    ),
    "core/v1.Container": ("ports", "volumeMounts", "volumeDevices", "env"),
    "core/v1.ResourceRequirements": ("claims",),
    "core/v1.Capabilities": ("add", "drop"),
    "core/v1.PodSecurityContext": ("supplementalGroups", "sysctls"),
    "core/v1.NodeAffinity": ("preferredDuringSchedulingIgnoredDuringExecution",),
    "core/v1.NodeSelector": ("nodeSelectorTerms",),
    "core/v1.NodeSelectorTerm": ("matchExpressions", "matchFields"),
    "core/v1.NodeSelectorRequirement": ("values",),
    **dict.fromkeys(("core/v1.PodAffinity", "core/v1.PodAntiAffinity"), POD_TERMS),
    "core/v1.PodAffinityTerm": ("namespaces", "matchLabelKeys", "mismatchLabelKeys"),
    "core/v1.TopologySpreadConstraint": ("matchLabelKeys",),
    "meta/v1.LabelSelector": ("matchExpressions",),
    "meta/v1.LabelSelectorRequirement": ("values",),
    "core/v1.PersistentVolumeClaimSpec": ("accessModes",),
    **dict.fromkeys((f"core/v1.{source}" for source in SOURCES_OF_FILES), ("items",)),
}
"""Lists whose items mean the same in any order (grove #566).

Containers start in theirs, the first of several rules or resolvers is asked first, and of sources of the same file the last one counts.
"""
