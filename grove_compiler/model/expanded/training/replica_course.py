"""Tells when an attempt of a training workload's replica started, and whether the replica is done."""

from __future__ import annotations

from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.attempts.attempt import ReplicaAttempt, recorded_attempt, replica_attempt
from grove_compiler.model.expanded.structure import Clique, Replica
from grove_compiler.model.lazy import memoized


def start_of(attempt: ReplicaAttempt) -> float | None:
    """Returns when the pods of a replica that start together all ran in this attempt; none before, and once it has failed."""
    recorded = time(attempt.entry.get("startTime") or None)
    if recorded is not None:
        return recorded
    starts = [time(recorded_attempt(clique).get("startTime") or None) for clique in _starting_together(attempt.replica)]
    known = [start for start in starts if start is not None]
    return max(known) if known and len(known) == len(starts) else None


def deciding_cliques(replica: Replica) -> list[Clique]:
    """Returns the cliques whose success completes a replica: those in `successCliques`, or all."""
    names = replica.set.training_limits.get("successCliques")
    return [clique for clique in replica.all_cliques if not names or clique.template.name in names]


@memoized
def is_done(replica: Replica) -> bool:
    """Reports whether a replica has succeeded: by its status, or because all deciding cliques report success."""
    if replica_attempt(replica).has_succeeded:
        return True
    cliques = deciding_cliques(replica)
    return bool(cliques) and all(_has_succeeded(clique) for clique in cliques)


def _has_succeeded(clique: Clique) -> bool:
    return is_true_in(recorded_attempt(clique), "Succeeded")


def _starting_together(replica: Replica) -> list[Clique]:
    """Returns the cliques of the base gang; all cliques if it has none, as where each scaling-group replica is its own gang."""
    return [clique for clique in replica.all_cliques if clique.gang_name == replica.name] or replica.all_cliques
