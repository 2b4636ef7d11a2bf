"""What an edit does, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grove_compiler.impact.fate import Fate, What
from grove_compiler.impact.impact import SetImpact
from grove_compiler.impact.pods import Amounts

WORDS: tuple[What, ...] = ("made", "changed", "replaced", "deleted", "left")


def number(count: int, word: str) -> str:
    """Returns `1 pod`, `2 pods`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}".replace(",", " ")


def gangs_of(one: SetImpact) -> dict[str, int]:
    """Returns how many gangs are made, changed, deleted, and lose pods to a restart."""
    result = {word: sum(fate.what == word and fate.kind == "PodGang" for fate in one.fates) for word in ("made", "changed", "deleted")}
    return {**result, "restarted": len(one.pods.restarted_gangs)}


def kinds(fates: Iterable[Fate]) -> str:
    """Returns `2 Service, 2 PodClique`."""
    counts: dict[str, int] = {}
    for fate in fates:
        counts[fate.kind] = counts.get(fate.kind, 0) + 1
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def objects(fates: Sequence[Fate]) -> list[tuple[What, str]]:
    """Returns what happens to objects, and how many of each kind; nothing for what does not happen."""
    pairs = [(word, [fate for fate in fates if fate.what == word]) for word in WORDS]
    return [(word, f"{len(result)}: {kinds(result)}") for word, result in pairs if result]


def amounts(result: Amounts) -> str:
    """Returns `10 restarted, 4 made`; empty for none at all."""
    return ", ".join(f"{result[word]} {word}" for word in ("restarted", "made", "deleted") if result[word])


def consequence(alone: Sequence[SetImpact]) -> str:
    """Returns what one edit does, in a line."""
    parts = []
    for one in alone:
        parts += [f"{word} {kinds(fate for fate in one.fates if fate.what == word)}" for word in WORDS[:4] if any_of(one, word)]
        pods, gpus = amounts(one.pods.pods), amounts(one.pods.gpus)
        parts += [f"pods: {pods}"] if pods else []
        parts += [f"GPUs: {gpus}"] if gpus else []
    return "; ".join(parts)


def any_of(one: SetImpact, word: What) -> bool:
    """Tells whether that happens to any object."""
    return any(fate.what == word for fate in one.fates)
