"""The labels by which tests know what an object belongs to."""

from __future__ import annotations

from applier.ref import Manifest

CLIQUE_LABEL = "grove.io/podclique"
INDEX_LABEL = "grove.io/podclique-pod-index"
GROUP_LABEL = "grove.io/podcliquescalinggroup"
MEMBER_LABEL = "grove.io/podcliquescalinggroup-replica-index"
REPLICA_LABEL = "grove.io/podcliqueset-replica-index"
SET_LABEL = "app.kubernetes.io/part-of"
ATTEMPT_LABEL = "grove.io/attempt"


def label(one: Manifest, key: str) -> str:
    """The value of a label; empty without it."""
    return (one["metadata"].get("labels") or {}).get(key) or ""


def index(one: Manifest, key: str) -> int:
    """The value of a label that is an index; -1 without it, and where somebody has written something else."""
    text = label(one, key)
    return int(text) if text.isascii() and text.isdecimal() else -1
