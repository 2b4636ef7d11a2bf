"""All definitions that the tables of the input kinds refer to: Kubernetes' own types with the defaults of their schemas, and rarer ones."""

from __future__ import annotations

from typing import Any

from grove_compiler.kube import pod_template_schema

Schema = dict[str, Any]

_EMPTY_NAME = {"name": ""}

POD_TEMPLATE_DEFAULTS: dict[str, dict[str, Any]] = {
    "core/v1.AzureDiskVolumeSource": {"fsType": "ext4", "readOnly": False},
    "core/v1.ConfigMapEnvSource": _EMPTY_NAME,
    "core/v1.ConfigMapKeySelector": _EMPTY_NAME,
    "core/v1.ConfigMapProjection": _EMPTY_NAME,
    "core/v1.ConfigMapVolumeSource": _EMPTY_NAME,
    "core/v1.ContainerPort": {"protocol": "TCP"},
    "core/v1.FileKeySelector": {"optional": False},
    "core/v1.GRPCAction": {"service": ""},
    "core/v1.ISCSIVolumeSource": {"iscsiInterface": "default"},
    "core/v1.LocalObjectReference": _EMPTY_NAME,
    "core/v1.RBDVolumeSource": {"keyring": "/etc/ceph/keyring", "pool": "rbd", "user": "admin"},
    "core/v1.ScaleIOVolumeSource": {"fsType": "xfs", "storageMode": "ThinProvisioned"},
    "core/v1.SecretEnvSource": _EMPTY_NAME,
    "core/v1.SecretKeySelector": _EMPTY_NAME,
    "core/v1.SecretProjection": _EMPTY_NAME,
}
"""What the CRDs' schemas set in pod templates (shipped semantics §6.1). Pods' own defaults such as dnsPolicy are not among them."""


class KubernetesDefinitions(pod_template_schema.Definitions):
    """Definitions in which those of Kubernetes need not be put, nor those that few need: each is made or loaded when first asked for."""

    __slots__ = ()

    def __missing__(self, name: str) -> Schema:
        """Returns the definition of a type that is not here yet; KeyError for an unknown name."""
        if name in POD_TEMPLATE_DEFAULTS:
            schema = with_defaults(super().__missing__(name), POD_TEMPLATE_DEFAULTS[name])
        elif name.startswith("autoscaling/"):
            from grove_compiler.kube.metric_schema import DEFINITIONS as METRICS  # only for sets that scale

            schema = METRICS[name]
        elif name.startswith("resource.k8s.io/"):
            from grove_compiler.kube.resource_claim_schema import DEFINITIONS as CLAIMS  # only for sets that share devices

            schema = CLAIMS[name]
        elif name.startswith("scheduler.grove.io/"):
            from grove_compiler.kube.scheduler_schema import DEFINITIONS as GANGS  # only for gangs in a snapshot

            schema = GANGS[name]
        elif name.startswith("operator.config.grove.io/"):
            from grove_compiler.kube.operator_config_schema import DEFINITIONS as CONFIGURATION  # only with a configuration

            schema = CONFIGURATION[name]
        else:
            return super().__missing__(name)
        self[name] = schema
        return schema


def with_defaults(schema: Schema, defaults: dict[str, Any]) -> Schema:
    """Returns the object schema with a `default` at some of its fields; KeyError for a default of an unknown field."""
    fields = dict(schema["fields"])
    for name, value in defaults.items():
        fields[name] = {**fields[name], "default": value}
    return {**schema, "fields": fields}
