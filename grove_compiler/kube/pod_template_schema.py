"""What a pod template may hold, for the structural checker: every struct of core/v1 that a PodTemplateSpec reaches.

Types come from the generated table; this page adds by hand what Go's types do not say: required fields (those that are neither
pointers nor `omitempty`), list-map keys (shipped semantics §13.4) and enums. Kubernetes may be newer than we are, so an unknown
field or enum value is a warning, and what only the kubelet or a feature gate would refuse is left to them.
"""

from __future__ import annotations

from typing import Any

from grove_compiler.kube.pod_template_fields import FIELDS

Schema = dict[str, Any]

PREFIX = "core/"
"""A struct's name in the definitions is this and its Go name: `core/v1.PodSpec`, `core/v1.Container`, `core/v1.ObjectMeta`."""

_BASIC: dict[str, Schema] = {
    "string": {"kind": "string"},
    "bool": {"kind": "boolean"},
    "int32": {"kind": "integer", "bits": 32},
    "int64": {"kind": "integer"},
    "resource.Quantity": {"kind": "quantity"},
    "intstr.IntOrString": {"kind": "int-or-string"},
    "v1.Time": {"kind": "time"},
    "v1.FieldsV1": {"kind": "any"},
}

_REQUIRED = {
    "v1.AWSElasticBlockStoreVolumeSource": "volumeID",
    "v1.AppArmorProfile": "type",
    "v1.AzureDiskVolumeSource": "diskName diskURI",
    "v1.AzureFileVolumeSource": "secretName shareName",
    "v1.CSIVolumeSource": "driver",
    "v1.CephFSVolumeSource": "monitors",
    "v1.CinderVolumeSource": "volumeID",
    "v1.ClusterTrustBundleProjection": "path",
    "v1.ConfigMapKeySelector": "key",
    "v1.Container": "name",
    "v1.ContainerPort": "containerPort",
    "v1.ContainerResizePolicy": "resourceName restartPolicy",
    "v1.DownwardAPIVolumeFile": "path",
    "v1.EnvVar": "name",
    "v1.EphemeralContainer": "name",
    "v1.FileKeySelector": "key path volumeName",
    "v1.FlexVolumeSource": "driver",
    "v1.GCEPersistentDiskVolumeSource": "pdName",
    "v1.GRPCAction": "port",
    "v1.GitRepoVolumeSource": "repository",
    "v1.GlusterfsVolumeSource": "endpoints path",
    "v1.HTTPGetAction": "port",
    "v1.HTTPHeader": "name value",
    "v1.HostAlias": "ip",
    "v1.HostPathVolumeSource": "path",
    "v1.ISCSIVolumeSource": "iqn lun targetPortal",
    "v1.KeyToPath": "key path",
    "v1.LabelSelectorRequirement": "key operator",
    "v1.NFSVolumeSource": "path server",
    "v1.NodeSelector": "nodeSelectorTerms",
    "v1.NodeSelectorRequirement": "key operator",
    "v1.ObjectFieldSelector": "fieldPath",
    "v1.OwnerReference": "apiVersion kind name uid",
    "v1.PersistentVolumeClaimTemplate": "spec",
    "v1.PersistentVolumeClaimVolumeSource": "claimName",
    "v1.PhotonPersistentDiskVolumeSource": "pdID",
    "v1.PodAffinityTerm": "topologyKey",
    "v1.PodCertificateProjection": "keyType signerName",
    "v1.PodOS": "name",
    "v1.PodReadinessGate": "conditionType",
    "v1.PodResourceClaim": "name",
    "v1.PodSchedulingGate": "name",
    "v1.PodSpec": "containers",
    "v1.PortworxVolumeSource": "volumeID",
    "v1.PreferredSchedulingTerm": "weight preference",
    "v1.QuobyteVolumeSource": "registry volume",
    "v1.RBDVolumeSource": "image monitors",
    "v1.ResourceClaim": "name",
    "v1.ResourceFieldSelector": "resource",
    "v1.ScaleIOVolumeSource": "gateway secretRef system",
    "v1.SeccompProfile": "type",
    "v1.SecretKeySelector": "key",
    "v1.ServiceAccountTokenProjection": "path",
    "v1.SleepAction": "seconds",
    "v1.Sysctl": "name value",
    "v1.TCPSocketAction": "port",
    "v1.TopologySpreadConstraint": "maxSkew topologyKey whenUnsatisfiable",
    "v1.TypedLocalObjectReference": "kind name",
    "v1.TypedObjectReference": "kind name",
    "v1.Volume": "name",
    "v1.VolumeDevice": "devicePath name",
    "v1.VolumeMount": "mountPath name",
    "v1.VsphereVirtualDiskVolumeSource": "volumePath",
    "v1.WeightedPodAffinityTerm": "podAffinityTerm weight",
}

_KEYS = {
    ("v1.PodSpec", "containers"): "name",
    ("v1.PodSpec", "initContainers"): "name",
    ("v1.PodSpec", "ephemeralContainers"): "name",
    ("v1.PodSpec", "volumes"): "name",
    ("v1.PodSpec", "imagePullSecrets"): "name",
    ("v1.PodSpec", "hostAliases"): "ip",
    ("v1.PodSpec", "resourceClaims"): "name",
    ("v1.PodSpec", "schedulingGates"): "name",
    ("v1.PodSpec", "topologySpreadConstraints"): "topologyKey whenUnsatisfiable",
    ("v1.Container", "env"): "name",
    ("v1.Container", "ports"): "containerPort protocol",
    ("v1.Container", "volumeMounts"): "mountPath",
    ("v1.Container", "volumeDevices"): "devicePath",
    ("v1.ResourceRequirements", "claims"): "name",
}
_KEY_DEFAULTS = {("v1.Container", "ports"): {"protocol": "TCP"}, ("v1.PodSpec", "imagePullSecrets"): {"name": ""}}
_LIKE = {"v1.EphemeralContainerCommon": "v1.Container"}
"""Structs whose lists have the keys, and whose strings the enums, of another's."""

_ENUMS = {
    ("v1.PodSpec", "restartPolicy"): "Always OnFailure Never",
    ("v1.PodSpec", "dnsPolicy"): "ClusterFirst ClusterFirstWithHostNet Default None",
    ("v1.PodSpec", "preemptionPolicy"): "PreemptLowerPriority Never",
    ("v1.Container", "imagePullPolicy"): "Always IfNotPresent Never",
    ("v1.Container", "terminationMessagePolicy"): "File FallbackToLogsOnError",
    ("v1.ContainerPort", "protocol"): "TCP UDP SCTP",
    ("v1.HTTPGetAction", "scheme"): "HTTP HTTPS",
    ("v1.LabelSelectorRequirement", "operator"): "In NotIn Exists DoesNotExist",
    ("v1.NodeSelectorRequirement", "operator"): "In NotIn Exists DoesNotExist Gt Lt",
    ("v1.PodOS", "name"): "linux windows",
    ("v1.SeccompProfile", "type"): "RuntimeDefault Localhost Unconfined",
    ("v1.AppArmorProfile", "type"): "RuntimeDefault Localhost Unconfined",
    ("v1.Toleration", "effect"): "NoSchedule PreferNoSchedule NoExecute",
    ("v1.Toleration", "operator"): "Exists Equal Lt Gt",
    ("v1.TopologySpreadConstraint", "whenUnsatisfiable"): "DoNotSchedule ScheduleAnyway",
    ("v1.VolumeMount", "mountPropagation"): "None HostToContainer Bidirectional",
}
"""What Kubernetes knows today; the empty string, which means the default, is always allowed."""


class Definitions(dict[str, Schema]):
    """Definitions for `structure.check` in which `core/v1....` need not be put: they are made when first asked for.

    Start it with one's own definitions: `Definitions({"Clique": {...}})`. A checked document uses a tenth of core/v1's structs.
    """

    __slots__ = ()

    def __missing__(self, name: str) -> Schema:
        """Makes the schema of one struct; KeyError for names that are not `core/` and a struct of the table."""
        if not name.startswith(PREFIX):
            raise KeyError(name)
        self[name] = schema = struct_schema(name.removeprefix(PREFIX))
        return schema


def struct_schema(struct: str) -> Schema:
    """Returns the schema of one Go struct such as `v1.PodSpec`; KeyError when no pod template reaches it."""
    schema: Schema = {"kind": "object", "fields": dict(_fields(struct)), "unknown": "warning"}
    if struct in _REQUIRED:
        schema["required"] = _REQUIRED[struct].split()
    return schema


def struct_names() -> list[str]:
    """Returns the names of all definitions that exist: `core/v1.Affinity` and so on."""
    return [PREFIX + struct for struct in FIELDS]


def _fields(struct: str) -> list[tuple[str, Schema]]:
    fields: list[tuple[str, Schema]] = []
    for text in FIELDS[struct].split("; "):
        name, _, below = text.split(" ")
        if name == "-":
            fields += _fields(below)
        else:
            fields.append((name, _field(struct, name, below)))
    return fields


def _field(struct: str, name: str, below: str) -> Schema:
    form = next((prefix for prefix in ("*", "[]", "{}") if below.startswith(prefix)), "")
    below = below.removeprefix(form)
    place = (_LIKE.get(struct, struct), name)
    if place in _ENUMS:
        return {"kind": "string", "enum": ["", *_ENUMS[place].split()], "open": True}
    schema = _BASIC.get(below) or {"ref": PREFIX + below}
    if form == "{}":
        return {"kind": "map", "values": schema}
    if form != "[]":
        return schema
    listed: Schema = {"kind": "list", "items": schema}
    if place in _KEYS:
        listed["keys"] = _KEYS[place].split()
        listed["key_defaults"] = _KEY_DEFAULTS.get(place, {})
    return listed
