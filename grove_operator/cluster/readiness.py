"""When objects of ours are ready: what waiting waits for, and what trees say."""

from __future__ import annotations

from applier.readiness import Expected, Readiness, Rule, readiness
from applier.ref import Manifest

RULES = (
    Rule("grove.io", "PodCliqueSet", fields=(Expected("/status/availableReplicas", ">=", other="/spec/replicas", default=0),)),
    Rule("grove.io", "PodCliqueScalingGroup", fields=(Expected("/status/availableReplicas", ">=", other="/spec/replicas", default=0),)),
    Rule("grove.io", "PodClique", fields=(Expected("/status/readyReplicas", ">=", other="/spec/replicas", default=0),)),
    Rule("scheduler.grove.io", "PodGang", fields=(Expected("/status/phase", "=", "Running", default="not reported"),)),
)
"""As the shipped operator reports: a set and its scaling groups count replicas that are available, a clique pods that are ready."""


def judge(manifest: Manifest) -> Readiness:
    """How ready a live object is."""
    return readiness(manifest, RULES)
