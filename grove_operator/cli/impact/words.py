"""What an edit does, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grove_compiler.gangs.clique import Clique
from grove_compiler.impact.account import Account
from grove_compiler.impact.fate import What
from grove_compiler.impact.pods import Amounts

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
