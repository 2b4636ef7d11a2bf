"""Finds names that are too long: those that Kubernetes rejects, and those that the upstream operator rejects."""

from __future__ import annotations

from grove_compiler.model.checks.name_patterns import CLAIM, DOMAIN, POD_CLIQUE, NamePattern, patterns_of, pods_of
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.record import record

MAX_DNS_LABEL_LENGTH = 63
MAX_COMBINED = 45
"""The upstream operator's limit for the names of a set, a scaling group and a clique together."""


@record
class LongName:
    """A name over its limit, and the part of it that a field of the manifest decides.

    `what` describes the name, and `length` is its length in characters. `own` is the value of the field at `path`; `fits` is how many
    characters that field may have, 0 or less if even an empty one would be too long.
    """

    what: str
    length: int
    limit: int
    own: str
    path: str

    @property
    def fits(self) -> int:
        return self.limit - self.length + len(self.own)

    @property
    def advice(self) -> str:
        """How many characters fit, as part of a message."""
        return f"at most {self.fits} fit here" if self.fits > 0 else "the other names leave no room for this one"


def names_too_long(pcs: PodCliqueSet) -> list[LongName]:
    """Returns the names over Kubernetes' limits, one for each entry of the manifest that leads to them.

    The relevant limits are those of a pod's hostname, which is the longest name composed of a set's, a group's and a clique's (those of
    Services, labels and PodGangs are shorter), of a claim's name within its pod, and of a ComputeDomain's, which is also the value of a
    label. `names_too_long_together` reports names over the upstream operator's limit, and the rules about syntax those that are too long by
    themselves.
    """
    pods = {clique.name: pods_of(clique) for clique in reversed(pcs.cliques)}
    long_names = []
    for pattern in patterns_of(pcs):
        if pattern.clique and _combined_length(pcs, pattern) > MAX_COMBINED:
            continue
        if pattern.kind == POD_CLIQUE:
            long_names.append(_long_name(pattern, "the hostname", pattern.longest(pods[pattern.clique])))
        elif pattern.kind == DOMAIN and len(pattern.own) <= MAX_DNS_LABEL_LENGTH:
            long_names.append(_long_name(pattern, "the ComputeDomain's name", pattern.longest()))
        elif pattern.kind == CLAIM and not pattern.is_of_domain:
            long_names.append(_long_name(pattern, "the claim's name in pods,", pattern.longest()))
    return [name for name in long_names if name.length > name.limit]


def names_too_long_together(pcs: PodCliqueSet) -> list[LongName]:
    """Returns the names of set, scaling group and clique that are longer than 45 characters together.

    Reports every clique that is too long, and the worst case for each group and for the set, since any of the names may be shortened.
    """
    pod_cliques = [pattern for pattern in patterns_of(pcs) if pattern.kind == POD_CLIQUE]
    too_long = [pattern for pattern in pod_cliques if _combined_length(pcs, pattern) > MAX_COMBINED]
    reported = [(pattern, pattern.clique, _clique_path(pcs, pattern)) for pattern in too_long]
    for group in pcs.groups:
        in_group = [pattern for pattern in too_long if pattern.group == group.name]
        reported += [(_longest(pcs, in_group), group.name, f"{group.path}.name")] if in_group else []
    reported += [(_longest(pcs, too_long), pcs.name, "metadata.name")] if too_long else []
    return [
        LongName(_description(pcs, pattern), _combined_length(pcs, pattern), MAX_COMBINED, own, path) for pattern, own, path in reported
    ]


def _clique_path(pcs: PodCliqueSet, pattern: NamePattern) -> str:
    """Returns the path to report: for a clique of a scaling group a `name` in the group's entry for it, as the upstream operator does."""
    group = next((group for group in pcs.groups if pattern.group and group.name == pattern.group), None)
    return pattern.path if group is None else f"{group.path}.cliqueNames[{group.clique_names.index(pattern.clique)}].name"


def _longest(pcs: PodCliqueSet, patterns: list[NamePattern]) -> NamePattern:
    return max(patterns, key=lambda pattern: _combined_length(pcs, pattern))


def _combined_length(pcs: PodCliqueSet, pattern: NamePattern) -> int:
    return len(pcs.name) + len(pattern.group) + len(pattern.clique)


def _description(pcs: PodCliqueSet, pattern: NamePattern) -> str:
    """Names what may be shortened, in the words of the upstream operator."""
    group = f", PodCliqueScalingGroup '{pattern.group}'," if pattern.group else ""
    return f"PodCliqueSet '{pcs.name}'{group} or PodClique '{pattern.clique}'"


def _long_name(pattern: NamePattern, what: str, name: str) -> LongName:
    return LongName(f'{what} "{name}"', len(name), MAX_DNS_LABEL_LENGTH, pattern.own, pattern.path)
