"""Why a ready pod of a training workload may be deleted: its attempt is over, or the whole workload is (GREP-0285)."""

from __future__ import annotations

from applier.ref import Manifest
from tests.simulation.labels import ATTEMPT_LABEL, REPLICA_LABEL, label

ENDS = ("Succeeded", "Failed")
"""The final phases."""
REPLICA_DONE = "ReplicaDone"
NOT_READY = ("Replacement", "NotKept")
"""The reasons of pods that failed or finished, which are not ready."""


def may_delete(pcs: Manifest, reason: str) -> bool:
    """Whether a ready pod of the set may go for a reason that is written onto it: that of its end, or that its replica has succeeded."""
    if pcs["spec"].get("workloadType") != "Training" or reason in NOT_READY:
        return False
    has_success_cliques = bool((pcs["spec"].get("trainingSpec") or {}).get("successCliques"))
    return (pcs.get("status") or {}).get("phase") in ENDS or (reason == REPLICA_DONE and has_success_cliques)


def is_of_older_attempt(pod: Manifest, pcs: Manifest) -> bool:
    """Whether a replica has gone on to another attempt: by a restart, or because it was suspended."""
    if pcs["spec"].get("workloadType") != "Training":
        return False
    entries = (pcs.get("status") or {}).get("trainingReplicas") or []
    current = next((one.get("attempt", 1) for one in entries if str(one.get("index", 0)) == label(pod, REPLICA_LABEL)), 1)
    return int(label(pod, ATTEMPT_LABEL) or 1) < int(current)
