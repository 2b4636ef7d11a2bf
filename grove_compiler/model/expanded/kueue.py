"""Counts the pods of a replica that form one of Kueue's pod groups."""

from __future__ import annotations

from grove_compiler.model.expanded.structure import Replica
from grove_compiler.model.lazy import memoized

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


@memoized
def queued_pods(replica: Replica) -> int:
    """Returns how many pods of a replica name a Kueue queue."""
    return sum(clique.replicas for clique in replica.all_cliques if clique.template.labels.get(QUEUE_LABEL))
