"""What a training workload says of its life, where it names parts of the set."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.record import record

LIMITS = "spec.trainingSpec"


@record
class CliqueMention:
    """A clique that the limits of a training workload name, which may not be there; `path` is where."""

    name: str
    path: str


def clique_mentions(limits: Manifest) -> list[CliqueMention]:
    """Returns the cliques that limits name: in rules about failures, and as those whose success counts."""
    rules = limits.get("failureRules") or []
    of_rules = [
        CliqueMention(one["clique"], f"{LIMITS}.failureRules[{index}].clique")
        for index, one in enumerate(rules)
        if isinstance(one.get("clique"), str)
    ]
    names = limits.get("successCliques") or []
    return [*of_rules, *(CliqueMention(name, f"{LIMITS}.successCliques[{index}]") for index, name in enumerate(names))]
