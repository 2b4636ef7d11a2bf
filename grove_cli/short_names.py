"""Defines kubectl's short names of kinds, including those of Grove."""

from __future__ import annotations

SHORT_NAMES = {
    "pcs": "PodCliqueSet",
    "pclq": "PodClique",
    "pcsg": "PodCliqueScalingGroup",
    "pg": "PodGang",
    "po": "Pod",
    "svc": "Service",
    "cm": "ConfigMap",
    "sa": "ServiceAccount",
    "deploy": "Deployment",
    "rs": "ReplicaSet",
    "sts": "StatefulSet",
    "ds": "DaemonSet",
    "hpa": "HorizontalPodAutoscaler",
    "cj": "CronJob",
    "ns": "Namespace",
}
