"""Names the labels and annotations of Grove's objects that more than one module reads. Templates write them (`templates/parts`)."""

from __future__ import annotations

PART_OF = "app.kubernetes.io/part-of"
"""The name of an object's set."""
MANAGED_BY = "app.kubernetes.io/managed-by"
OPERATOR = "grove-operator"
"""The value of `MANAGED_BY` for objects of a set, which the upstream operator writes as well."""
MANAGED = f"{MANAGED_BY}={OPERATOR}"
"""Selects the objects of all sets."""

REPLICA_LABEL = "grove.io/podcliqueset-replica-index"
CLIQUE_LABEL = "grove.io/podclique"
GROUP_LABEL = "grove.io/podcliquescalinggroup"
MEMBER_LABEL = "grove.io/podcliquescalinggroup-replica-index"
"""The index of the scaling group's replica."""
GANG_LABEL = "grove.io/podgang"
BASE_GANG_LABEL = "grove.io/base-podgang"
POD_INDEX_LABEL = "grove.io/podclique-pod-index"
POD_HASH_LABEL = "grove.io/pod-template-hash"
ATTEMPT_LABEL = "grove.io/attempt"
"""The number of the attempt of a training workload that a pod belongs to."""

DELETION_REASON = "grove.io/deletion-reason"
"""The annotation with the reason for our own deletes; an object that is deleted without it was deleted by others."""
