"""Finds the cliques that the limits of a training workload name."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.record import record

LIMITS = "spec.trainingSpec"


@record
class CliqueMention:
    """A clique that the limits of a training workload name, which may not exist; `path` is the field that names it."""

    name: str
    path: str


def clique_mentions(limits: Manifest) -> list[CliqueMention]:
    """Returns the cliques named in `failureRules`, then those in `successCliques`."""
    rules = limits.get("failureRules") or []
    in_rules = [
        CliqueMention(rule["clique"], f"{LIMITS}.failureRules[{index}].clique")
        for index, rule in enumerate(rules)
        if isinstance(rule.get("clique"), str)
    ]
    names = limits.get("successCliques") or []
    return [*in_rules, *(CliqueMention(name, f"{LIMITS}.successCliques[{index}]") for index, name in enumerate(names))]
