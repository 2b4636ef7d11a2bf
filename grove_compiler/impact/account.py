"""Summarizes the impact of an edit as counts, for short reports such as the warnings of an admission webhook."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import NamedTuple

from grove_compiler.gangs.gang import GANG_KIND
from grove_compiler.impact.fate import What
from grove_compiler.impact.impact import SetImpact
from grove_compiler.impact.pods import WHAT, Amounts
from grove_compiler.record import record

GANG_FATES: tuple[What, ...] = ("made", "changed", "deleted")


class RestartStep(NamedTuple):
    """Names one clique or scaling group whose pods restart, in one replica of a set.

    Replicas of a set restart one after the other; parts of one replica in parallel. `indices` are those of a scaling group's replicas,
    in the order in which they restart; empty for a standalone clique.
    """

    set_name: str
    replica: int
    name: str
    indices: tuple[int, ...]
    pods: int


@record
class Account:
    """Counts objects by fate and by kind, then pods, GPUs, MIG devices and gangs; `restarts` are in their order."""

    objects: dict[What, dict[str, int]] = field(default_factory=dict)
    pods: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    gpus: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    mig_devices: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    gangs: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*GANG_FATES, "restarted"), 0))
    restarts: list[RestartStep] = field(default_factory=list)


def account(sets: Iterable[SetImpact]) -> Account:
    """Returns the sums over all these sets."""
    total = Account()
    for impact in sets:
        for fate in impact.fates:
            kinds = total.objects.setdefault(fate.what, {})
            kinds[fate.kind] = kinds.get(fate.kind, 0) + 1
        for what in WHAT:
            total.pods[what] += impact.pods.pods[what]
            total.gpus[what] += impact.pods.gpus[what]
            total.mig_devices[what] += impact.pods.mig_devices[what]
        total.gangs["restarted"] += len(impact.pods.restarted_gangs)
        total.restarts += _restart_steps(impact)
    for fate_name in GANG_FATES:
        total.gangs[fate_name] = total.objects.get(fate_name, {}).get(GANG_KIND, 0)
    return total


def _restart_steps(impact: SetImpact) -> Iterable[RestartStep]:
    set_name = impact.place[1]
    for replica in impact.pods.restarts:
        for clique in replica.cliques:
            yield RestartStep(set_name, replica.index, clique.name, (), clique.pods)
        for name, parts in replica.groups.items():
            pods = sum(clique.pods for part in parts.values() for clique in part)
            yield RestartStep(set_name, replica.index, name, tuple(parts), pods)
