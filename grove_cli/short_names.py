"""Defines kubectl's short names of kinds, including those of Grove, and tells which words mean a kind."""

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


def means_kind(word: str, kind: str) -> bool:
    """Reports whether a word means a kind: its name, plural or short name in any case, perhaps followed by its group."""
    plain, name = word.lower().partition(".")[0], kind.lower()
    return SHORT_NAMES.get(plain, plain).lower() in (name, f"{name}s", f"{name}es", f"{name[:-1]}ies")
