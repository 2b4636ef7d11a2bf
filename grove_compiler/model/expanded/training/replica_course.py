"""How an attempt of one replica of a training workload goes: since when all of it runs, and whether it is done."""

from __future__ import annotations

from grove_compiler.kube.conditions import is_true_in
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.attempts.attempt import ReplicaAttempt, recorded_attempt, replica_attempt
from grove_compiler.model.expanded.structure import Clique, Replica
from grove_compiler.model.lazy import remembered


def start_of(attempt: ReplicaAttempt) -> float | None:
    """Returns when all pods of a replica that start together ran in this attempt; none while they do not, and once it has failed."""
    recorded = time(attempt.entry.get("startTime") or None)
    if recorded is not None:
        return recorded
    starts = [time(recorded_attempt(clique).get("startTime") or None) for clique in _starting_together(attempt.replica)]
    known = [start for start in starts if start is not None]
    return max(known) if known and len(known) == len(starts) else None


def deciding_cliques(replica: Replica) -> list[Clique]:
    """Returns the cliques with whose success a replica is done: all of them, unless the set names some."""
    named = replica.set.training_limits.get("successCliques")
    return [one for one in replica.all_cliques if not named or one.template.name in named]


@remembered
def is_done(replica: Replica) -> bool:
    """Tells whether all pods of a replica have finished well."""
    if replica_attempt(replica).has_succeeded:
        return True
    cliques = deciding_cliques(replica)
    return bool(cliques) and all(_has_succeeded(clique) for clique in cliques)


def _has_succeeded(clique: Clique) -> bool:
    return is_true_in(recorded_attempt(clique), "Succeeded")


def _starting_together(replica: Replica) -> list[Clique]:
    """The cliques of the base gang; all of them where each replica of a scaling group is a gang of its own."""
    return [clique for clique in replica.all_cliques if clique.gang_name == replica.name] or replica.all_cliques
