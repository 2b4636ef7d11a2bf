"""Describes what the Go types of Kubernetes' own kinds define and OpenAPI does not: pointer fields, feature gates and defaults.

A server decodes an object into Go structs, sets defaults, and stores the result. A `0` is kept in a pointer field and omitted from any
other; null is omitted from both. OpenAPI describes the two alike.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_PREFIX = "io.k8s."


@cache
def _structs(package: str) -> dict[str, str]:
    """Returns the fields of each struct of a package, separated by spaces."""
    from applier.decision.go_fields import FIELDS  # 50 KB, needed only once an object differs

    return dict(struct.split(":") for struct in FIELDS.get(package, "").split(";") if struct)


@cache
def _of(definition: str) -> dict[str, str]:
    """Returns the fields of a definition with their marks: `*` for a pointer, `?` for one behind a feature gate."""
    package, _, struct = definition.removeprefix(_PREFIX).rpartition(".")
    words = _structs(package).get(struct, "").split()
    return {word.lstrip("?*"): word[: -len(word.lstrip("?*"))] for word in words}


def is_known(definition: str, field: str) -> bool:
    """Reports whether these tables have the field; those of a newer server may be missing."""
    return field in _of(definition)


def is_plain(definition: str, field: str) -> bool:
    """Reports whether a field is known to be no pointer, so that the server treats an empty scalar in it as absent."""
    return "*" not in _of(definition).get(field, "*")


def is_gated(definition: str, field: str) -> bool:
    """Reports whether a server may drop the field because its feature gate is off."""
    return "?" in _of(definition).get(field, "")


def default_of(definition: str, field: str) -> Any:
    """Returns the default of an absent field, if it does not depend on other fields; None if no such default is known."""
    return _DEFAULTS.get(definition.removeprefix(_PREFIX), {}).get(field)


def is_computed(definition: str, field: str) -> bool:
    """Reports whether the server computes an absent field from others, allocates it, or removes it."""
    return field in _COMPUTED.get(definition.removeprefix(_PREFIX), ())


def is_validated_when_empty(definition: str, field: str) -> bool:
    """Reports whether validation on the server distinguishes an empty value from an absent one, although neither is stored."""
    return field in _VALIDATED_WHEN_EMPTY.get(definition.removeprefix(_PREFIX), ())


_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_FILES = {"defaultMode": 420}
_WEBHOOK = {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "timeoutSeconds": 10}
_DEVICE = {"allocationMode": "ExactCount", "count": 1}
_TOLERATION = {"operator": "Equal"}
_QUARTERS = {"maxSurge": "25%", "maxUnavailable": "25%"}
_ONE_DOWN = {"maxSurge": 0, "maxUnavailable": 1}
_KEEP_CLAIMS = {"whenDeleted": "Retain", "whenScaled": "Retain"}
_HALF_OF_CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
_RBAC = {"apiGroup": "rbac.authorization.k8s.io"}

# From pkg/apis/*/*/defaults.go of Kubernetes 1.35, since OpenAPI declares only a few of them. Defaults are part of an API's compatibility
# guarantee, so they hold for other releases, too. A default that is missing here costs a write without effect, and never hides a change:
# a field without a known default counts as changed.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "api.core.v1.PodSpec": {
        "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30,
        "securityContext": {}, "enableServiceLinks": True,
    },
    "api.core.v1.Container": {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"},
    "api.core.v1.Probe": _PROBE,
    "api.core.v1.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "api.core.v1.GRPCAction": {"service": ""},
    "api.core.v1.ContainerPort": {"protocol": "TCP"},
    "api.core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "api.core.v1.ResourceFieldSelector": {"divisor": "0"},
    "api.core.v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "api.core.v1.SecretVolumeSource": _FILES,
    "api.core.v1.ConfigMapVolumeSource": _FILES,
    "api.core.v1.DownwardAPIVolumeSource": _FILES,
    "api.core.v1.ProjectedVolumeSource": _FILES,
    "api.core.v1.HostPathVolumeSource": {"type": ""},
    "api.core.v1.PersistentVolumeClaim": {"apiVersion": "v1", "kind": "PersistentVolumeClaim"},
    "api.core.v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "api.core.v1.PersistentVolumeClaimStatus": {"phase": "Pending"},
    "api.core.v1.PersistentVolumeSpec": {"volumeMode": "Filesystem", "persistentVolumeReclaimPolicy": "Retain"},
    "api.core.v1.Secret": {"type": "Opaque"},
    "api.core.v1.EndpointPort": {"protocol": "TCP"},
    "api.core.v1.ServiceSpec": {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"},
    "api.core.v1.ServicePort": {"protocol": "TCP"},
    "api.core.v1.ClientIPConfig": {"timeoutSeconds": 10800},
    "api.core.v1.ReplicationControllerSpec": {"replicas": 1},
    "api.apps.v1.DeploymentSpec": {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
    "api.apps.v1.DeploymentStrategy": {"type": "RollingUpdate", "rollingUpdate": _QUARTERS},
    "api.apps.v1.RollingUpdateDeployment": _QUARTERS,
    "api.apps.v1.DaemonSetSpec": {"revisionHistoryLimit": 10},
    "api.apps.v1.DaemonSetUpdateStrategy": {"type": "RollingUpdate", "rollingUpdate": _ONE_DOWN},
    "api.apps.v1.RollingUpdateDaemonSet": _ONE_DOWN,
    "api.apps.v1.StatefulSetSpec": {
        "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady",
        "persistentVolumeClaimRetentionPolicy": _KEEP_CLAIMS,
    },
    "api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": _KEEP_CLAIMS,
    "api.apps.v1.StatefulSetUpdateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
    "api.apps.v1.RollingUpdateStatefulSetStrategy": {"partition": 0},
    "api.apps.v1.ReplicaSetSpec": {"replicas": 1},
    "api.autoscaling.v1.HorizontalPodAutoscalerSpec": {"minReplicas": 1, "targetCPUUtilizationPercentage": 80},
    "api.autoscaling.v2.HorizontalPodAutoscalerSpec": {"minReplicas": 1, "metrics": [_HALF_OF_CPU]},
    "api.autoscaling.v2.HPAScalingRules": {"selectPolicy": "Max"},
    "api.batch.v1.JobSpec": {"backoffLimit": 6, "completionMode": "NonIndexed", "suspend": False},
    "api.batch.v1.CronJobSpec": {
        "concurrencyPolicy": "Allow", "suspend": False, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1,
    },
    "api.batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "api.discovery.v1.EndpointPort": {"name": "", "protocol": "TCP"},
    "api.networking.v1.NetworkPolicyPort": {"protocol": "TCP"},
    "api.networking.v1.IngressClassParametersReference": {"scope": "Cluster"},
    "api.rbac.v1.RoleRef": _RBAC,
    "api.rbac.v1.Subject": _RBAC,
    "api.admissionregistration.v1.ValidatingWebhook": _WEBHOOK,
    "api.admissionregistration.v1.MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
    "api.admissionregistration.v1.ServiceReference": {"port": 443},
    "api.admissionregistration.v1.RuleWithOperations": {"scope": "*"},
    "api.admissionregistration.v1.NamedRuleWithOperations": {"scope": "*"},
    "api.admissionregistration.v1.MatchResources": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}},
    "api.admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "api.flowcontrol.v1.FlowSchemaSpec": {"matchingPrecedence": 1000},
    "api.flowcontrol.v1.LimitedPriorityLevelConfiguration": {"nominalConcurrencyShares": 30, "lendablePercent": 0},
    "api.flowcontrol.v1.ExemptPriorityLevelConfiguration": {"nominalConcurrencyShares": 0, "lendablePercent": 0},
    "api.flowcontrol.v1.QueuingConfiguration": {"queues": 64, "handSize": 8, "queueLengthLimit": 50},
    "api.resource.v1.ExactDeviceRequest": _DEVICE,
    "api.resource.v1.DeviceSubRequest": _DEVICE,
    "api.resource.v1.DeviceToleration": _TOLERATION,
    "api.resource.v1beta2.ExactDeviceRequest": _DEVICE,
    "api.resource.v1beta2.DeviceSubRequest": _DEVICE,
    "api.resource.v1beta2.DeviceToleration": _TOLERATION,
    "api.resource.v1beta1.DeviceRequest": _DEVICE,
    "api.resource.v1beta1.DeviceSubRequest": _DEVICE,
    "api.resource.v1beta1.DeviceToleration": _TOLERATION,
    "api.scheduling.v1.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "api.storage.v1.StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
    "api.storage.v1.CSIDriverSpec": {
        "attachRequired": True, "podInfoOnMount": False, "storageCapacity": False, "requiresRepublish": False, "seLinuxMount": False,
        "volumeLifecycleModes": ["Persistent"], "fsGroupPolicy": "ReadWriteOnceWithFSType",
    },
    "apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec": {"conversion": {"strategy": "None"}},
    "apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion": {"strategy": "None"},
    "apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference": {"port": 443},
    "kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference": {"port": 443},
}  # fmt: skip

# From the same files, and from the strategies and admission plugins of the kinds (pkg/registry, plugin/pkg/admission).
_COMPUTED: dict[str, frozenset[str]] = {
    definition: frozenset(fields.split())
    for definition, fields in {
        "api.core.v1.Container": "imagePullPolicy",
        "api.core.v1.ResourceRequirements": "requests",
        "api.core.v1.PodSpec": "serviceAccount serviceAccountName priority preemptionPolicy nodeName tolerations",
        "api.core.v1.ServiceSpec": "clusterIP clusterIPs ipFamilies ipFamilyPolicy healthCheckNodePort sessionAffinityConfig"
        " externalTrafficPolicy allocateLoadBalancerNodePorts",
        "api.core.v1.ServicePort": "targetPort nodePort",
        "api.core.v1.LimitRangeItem": "default defaultRequest",
        "api.core.v1.PersistentVolumeClaimSpec": "storageClassName volumeName dataSource dataSourceRef",
        "api.core.v1.PersistentVolumeSpec": "claimRef",
        "api.core.v1.ReplicationControllerSpec": "selector",
        "api.core.v1.NamespaceSpec": "finalizers",
        "api.core.v1.NodeSpec": "configSource",
        "api.core.v1.NodeConfigSource": "configMap",
        "api.core.v1.SessionAffinityConfig": "clientIP",
        "api.autoscaling.v2.HorizontalPodAutoscalerSpec": "behavior",
        "api.autoscaling.v2.HPAScalingRules": "policies stabilizationWindowSeconds",
        "api.autoscaling.v2.HorizontalPodAutoscalerBehavior": "scaleUp scaleDown",
        "api.batch.v1.JobSpec": "completions parallelism selector podReplacementPolicy manualSelector",
        "api.networking.v1.NetworkPolicySpec": "policyTypes",
        "api.rbac.v1.ClusterRole": "rules",
        "api.certificates.v1.CertificateSigningRequestSpec": "username uid groups extra",
        "apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames": "singular listKind",
    }.items()
}

# From pkg/apis/apiextensions/validation: beside a status subresource, the root of a schema is compared with Go's zero values, which an
# empty map is not. (A StorageClass's `parameters: {}` is accepted on creation and refused on update; but by then it is stored as desired.)
_VALIDATED_WHEN_EMPTY: dict[str, frozenset[str]] = {
    "apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps": frozenset(
        ["allOf", "anyOf", "oneOf", "enum", "definitions", "dependencies", "patternProperties", "x-kubernetes-list-map-keys"]
    ),
}
