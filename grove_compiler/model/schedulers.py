"""Which schedulers the pods of a set have."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.model.configuration import Configuration
from grove_compiler.model.declared import PodCliqueSet


@dataclass(slots=True, eq=False)
class SchedulerChoice:
    """A scheduler, and the field of the first clique that has it."""

    name: str
    path: str


def scheduler_choices(set: PodCliqueSet, config: Configuration) -> list[SchedulerChoice]:
    """The different schedulers of a set's cliques, the first clique's first; a clique that names none has the configured default.

    The first one is what the shipped operator takes for the whole set (shipped semantics §6.2, §10).
    """
    choices: dict[str, SchedulerChoice] = {}
    for clique in set.cliques:
        name = clique.scheduler_name or config.default_scheduler
        if name not in choices:
            choices[name] = SchedulerChoice(name, f"{clique.path}.spec.podSpec.schedulerName")
    return list(choices.values())
