"""What an entry of a set was before an update. Cliques and scaling groups are the same ones as long as they keep their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from grove_compiler.model.spec.declared import CliqueTemplate, PodCliqueSet, ScalingGroupTemplate

_Named = TypeVar("_Named", CliqueTemplate, ScalingGroupTemplate)


def former_clique(old: PodCliqueSet, clique: CliqueTemplate) -> CliqueTemplate | None:
    """The clique of this name in the former set; none when it is new."""
    return _of_same_name(old.cliques, clique)


def former_group(old: PodCliqueSet, group: ScalingGroupTemplate) -> ScalingGroupTemplate | None:
    """The scaling group of this name in the former set; none when it is new."""
    return _of_same_name(old.groups, group)


def _of_same_name(entries: Sequence[_Named], wanted: _Named) -> _Named | None:
    """Most entries keep their place, so that is where to look first."""
    if wanted.index < len(entries) and entries[wanted.index].name == wanted.name:
        return entries[wanted.index]
    return next((entry for entry in entries if entry.name == wanted.name), None)
