"""Generated names that Kubernetes would refuse because they are too long."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.model.declared import PodCliqueSet
from grove_compiler.model.name_patterns import CLAIM, POD_CLIQUE, NamePattern, patterns_of, pods_of

LONGEST_DNS_LABEL = 63
LONGEST_TOGETHER = 45
"""The shipped operator's limit for the names of a set, a scaling group and a clique together (shipped semantics §6.2)."""


@dataclass(slots=True, eq=False)
class LongName:
    """A generated name over its limit.

    `what` says which name of which object it is; `own` is the part of it that the field at `path` holds, and `fits` how long that
    part may be at most, 0 or less when no name would fit there.
    """

    what: str
    name: str
    limit: int
    own: str
    path: str

    @property
    def length(self) -> int:
        return len(self.name)

    @property
    def fits(self) -> int:
        return self.limit - len(self.name) + len(self.own)


def names_too_long(set: PodCliqueSet) -> list[LongName]:
    """The names over Kubernetes' limits, one for each entry of the manifest that makes them.

    The binding limits are those of a pod's hostname, which is the longest name that is made of a set's, a group's and a clique's
    (Services, labels and PodGangs are shorter), and of a claim's name inside its pod. Names that break the rule of 45 characters
    are left out: that rule reports them.
    """
    pods = {clique.name: pods_of(clique) for clique in reversed(set.cliques)}
    found = []
    for pattern in patterns_of(set):
        if breaks_shipped_limit(set, pattern):
            continue
        if pattern.kind == POD_CLIQUE:
            found.append(_long_name(pattern, f"the hostname of a pod of {pattern.origin}", pattern.longest(pods[pattern.clique])))
        elif pattern.kind == CLAIM:
            found.append(_long_name(pattern, f"the name that pods use for the claim of {pattern.origin}", pattern.longest()))
    return [name for name in found if name.length > name.limit]


def breaks_shipped_limit(set: PodCliqueSet, pattern: NamePattern) -> bool:
    """Whether set, scaling group and clique have more than 45 characters together."""
    return bool(pattern.clique) and len(set.name) + len(pattern.group) + len(pattern.clique) > LONGEST_TOGETHER


def _long_name(pattern: NamePattern, what: str, name: str) -> LongName:
    return LongName(what, name, LONGEST_DNS_LABEL, pattern.own, pattern.path)
