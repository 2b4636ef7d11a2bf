"""Which schedulers the pods of a set have."""

from __future__ import annotations

from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.spec.declared import CliqueTemplate, PodCliqueSet


def scheduler_of(clique: CliqueTemplate, config: Configuration) -> str:
    """The scheduler of a clique's pods: the configured default when it names none."""
    return clique.scheduler_name or config.default_scheduler


def first_with_each_scheduler(set: PodCliqueSet, config: Configuration) -> list[CliqueTemplate]:
    """For each scheduler that the set's pods have the first clique with it; one is how it should be.

    The scheduler of the very first clique is what the shipped operator takes for the whole set (shipped semantics §6.2, §10).
    """
    first: dict[str, CliqueTemplate] = {}
    for clique in set.cliques:
        first.setdefault(scheduler_of(clique, config), clique)
    return list(first.values())
