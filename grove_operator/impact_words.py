"""Formats the effects of an edit as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grove_compiler.gangs.clique import CompiledClique
from grove_compiler.impact.account import Account
from grove_compiler.impact.fate import What
from grove_compiler.impact.pods import Amounts, ReplicaRestart

WORDS: tuple[What, ...] = ("made", "changed", "replaced", "deleted", "left")


def number(count: int, word: str) -> str:
    """Returns `1 pod`, `2 pods`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}".replace(",", " ")


def kinds(counts: Mapping[str, int]) -> str:
    """Returns `2 Service, 2 PodClique`."""
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def objects(account: Account) -> Iterator[tuple[What, str]]:
    """Yields the effects on objects with their counts by kind, without zeros."""
    for word in WORDS:
        if counts := account.objects.get(word):
            yield word, f"{sum(counts.values())}: {kinds(counts)}"


def amounts(result: Amounts) -> str:
    """Returns `10 restarted, 4 made`; empty for none."""
    return ", ".join(f"{result[word]} {word}" for word in ("restarted", "made", "deleted") if result[word])


def devices(account: Account) -> Iterator[tuple[str, str]]:
    """Yields the effects on GPUs and MIG devices."""
    pairs = (("GPUs", account.gpus), ("MIG devices", account.mig_devices))
    return ((word, text) for word, counts in pairs if (text := amounts(counts)))


def consequence(account: Account) -> str:
    """Returns the effects of an edit on one line."""
    parts = [f"{word} {kinds(account.objects[word])}" for word in WORDS[:4] if word in account.objects]
    parts += [f"pods: {pods}"] if (pods := amounts(account.pods)) else []
    return "; ".join([*parts, *(f"{word}: {text}" for word, text in devices(account))])


def devices_each(clique: CompiledClique) -> str:
    """Returns ` with 8 GPUs and 1 MIG device each`; empty for a pod without any."""
    text = " and ".join(number(count, word) for word, count in clique.devices.items())
    return f" with {text} each" if text else ""


def gangs(account: Account) -> str:
    """Returns `3 restarted, 1 made`; empty for none."""
    return ", ".join(f"{count} {word}" for word, count in account.gangs.items() if count)


def indices(name: str, restart: ReplicaRestart) -> str:
    """Returns which replicas of a scaling group restart: `replica 0`, or `replicas 0, 1 one after the other`."""
    replicas = list(restart.groups[name])
    return f"replica {replicas[0]}" if len(replicas) == 1 else f"replicas {', '.join(map(str, replicas))} {pace(name, restart)}"


def pace(name: str, restart: ReplicaRestart) -> str:
    """Returns how the pods of a clique, or the replicas of a scaling group, follow each other."""
    at_a_time = restart.at_a_time.get(name, 1)
    return "one after the other" if at_a_time == 1 else f"at most {at_a_time} at a time"


def runs_alike(restarts: Sequence[ReplicaRestart]) -> Iterator[Sequence[ReplicaRestart]]:
    """Yields runs of consecutive replicas with equal restarts."""
    start = 0
    for position in range(1, len(restarts) + 1):
        if position == len(restarts) or _shape(restarts[position]) != _shape(restarts[start]):
            yield restarts[start:position]
            start = position


def _shape(replica: ReplicaRestart) -> list[Any]:
    groups = [[(index, [(c.pods, c.devices) for c in part]) for index, part in parts.items()] for parts in replica.groups.values()]
    return [[(clique.pods, clique.devices) for clique in replica.cliques], groups, list(replica.at_a_time.values())]
