"""What a metric of an autoscaler may hold (autoscaling/v2 of Kubernetes 1.35), in the words of `kube.structure`."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _struct(required: str, **fields: Schema) -> Schema:
    """Returns an object; Kubernetes may be newer than we are, so an unknown field is a warning."""
    return {"kind": "object", "fields": fields, "required": required.split(), "unknown": "warning"}


def _ref(name: str) -> Schema:
    return {"ref": f"autoscaling/v2.{name}"}


_STRING: Schema = {"kind": "string"}
_QUANTITY: Schema = {"kind": "quantity"}

DEFINITIONS: dict[str, Schema] = {
    "autoscaling/v2.MetricSpec": _struct(
        "type",
        type={"kind": "string", "enum": ["ContainerResource", "External", "Object", "Pods", "Resource"], "open": True},
        containerResource=_ref("ContainerResourceMetricSource"),
        external=_ref("ExternalMetricSource"),
        object=_ref("ObjectMetricSource"),
        pods=_ref("PodsMetricSource"),
        resource=_ref("ResourceMetricSource"),
    ),
    "autoscaling/v2.ContainerResourceMetricSource": _struct(
        "container name target", container=_STRING, name=_STRING, target=_ref("MetricTarget")
    ),
    "autoscaling/v2.ExternalMetricSource": _struct("metric target", metric=_ref("MetricIdentifier"), target=_ref("MetricTarget")),
    "autoscaling/v2.ObjectMetricSource": _struct(
        "describedObject metric target",
        describedObject=_ref("CrossVersionObjectReference"),
        metric=_ref("MetricIdentifier"),
        target=_ref("MetricTarget"),
    ),
    "autoscaling/v2.PodsMetricSource": _struct("metric target", metric=_ref("MetricIdentifier"), target=_ref("MetricTarget")),
    "autoscaling/v2.ResourceMetricSource": _struct("name target", name=_STRING, target=_ref("MetricTarget")),
    "autoscaling/v2.CrossVersionObjectReference": _struct("kind name", apiVersion=_STRING, kind=_STRING, name=_STRING),
    "autoscaling/v2.MetricIdentifier": _struct("name", name=_STRING, selector={"ref": "core/v1.LabelSelector"}),
    "autoscaling/v2.MetricTarget": _struct(
        "type",
        type={"kind": "string", "enum": ["Utilization", "Value", "AverageValue"], "open": True},
        averageUtilization={"kind": "integer", "bits": 32},
        averageValue=_QUANTITY,
        value=_QUANTITY,
    ),
}
