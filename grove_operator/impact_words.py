"""What an edit does, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grove_compiler.gangs.clique import Clique
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


def objects(told: Account) -> Iterator[tuple[What, str]]:
    """Yields what happens to objects, and how many of each kind; nothing for what does not happen."""
    for word in WORDS:
        if counts := told.objects.get(word):
            yield word, f"{sum(counts.values())}: {kinds(counts)}"


def amounts(result: Amounts) -> str:
    """Returns `10 restarted, 4 made`; empty for none at all."""
    return ", ".join(f"{result[word]} {word}" for word in ("restarted", "made", "deleted") if result[word])


def devices(told: Account) -> Iterator[tuple[str, str]]:
    """Yields what happens to GPUs and MIG devices."""
    pairs = (("GPUs", told.gpus), ("MIG devices", told.mig_devices))
    return ((word, text) for word, counts in pairs if (text := amounts(counts)))


def consequence(told: Account) -> str:
    """Returns what one edit does, in a line."""
    parts = [f"{word} {kinds(told.objects[word])}" for word in WORDS[:4] if word in told.objects]
    parts += [f"pods: {pods}"] if (pods := amounts(told.pods)) else []
    return "; ".join([*parts, *(f"{word}: {text}" for word, text in devices(told))])


def devices_each(clique: Clique) -> str:
    """Returns ` with 8 GPUs and 1 MIG device each`; empty for a pod without any."""
    text = " and ".join(number(count, word) for word, count in clique.devices.items())
    return f" with {text} each" if text else ""


def gangs(told: Account) -> str:
    """Returns `3 restarted, 1 made`; empty for none."""
    return ", ".join(f"{count} {word}" for word, count in told.gangs.items() if count)


def indices(replicas: Sequence[int]) -> str:
    """Returns `replica 0`, or `replicas 0, 1 one after the other`."""
    return f"replica {replicas[0]}" if len(replicas) == 1 else f"replicas {', '.join(map(str, replicas))} one after the other"


def runs_alike(restarts: Sequence[ReplicaRestart]) -> Iterator[Sequence[ReplicaRestart]]:
    """Yields neighbours in which as much restarts."""
    start = 0
    for position in range(1, len(restarts) + 1):
        if position == len(restarts) or _shape(restarts[position]) != _shape(restarts[start]):
            yield restarts[start:position]
            start = position


def _shape(replica: ReplicaRestart) -> list[Any]:
    groups = [[(index, [(c.pods, c.devices) for c in part]) for index, part in parts.items()] for parts in replica.groups.values()]
    return [[(clique.pods, clique.devices) for clique in replica.cliques], groups]
