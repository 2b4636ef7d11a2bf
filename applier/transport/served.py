"""Reads the kinds that a server serves from its discovery documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from applier.cluster import Resource
from applier.ref import Kind

AGGREGATED = ",".join(f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1"))
"""The Accept header of aggregated discovery, which takes two requests. Every server since Kubernetes 1.27 supports it, so the older
protocol, with one request for each group version, is not implemented."""


@dataclass(slots=True, eq=False)
class ServedResources:
    """Holds resources by kind, each group's preferred version first. `broken` are group versions whose API service does not answer."""

    by_kind: dict[Kind, Resource] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def add(self, resource: Resource) -> None:
        """Adds a resource. If two have the same kind, the first counts."""
        self.by_kind.setdefault(resource.kind, resource)

    def preferred(self) -> list[Resource]:
        """Returns every kind of every group, once: in the first version that has it."""
        first: dict[tuple[str, str], Resource] = {}
        for kind, resource in self.by_kind.items():
            first.setdefault((kind.group, kind.kind), resource)
        return list(first.values())

    def versions(self, kind: Kind) -> list[str]:
        """Returns the versions in which the group and kind of `kind` are served."""
        return [known.version for known in self.by_kind if (known.group, known.kind) == (kind.group, kind.kind)]

    def dump(self) -> dict[str, Any]:
        """Returns the resources as JSON, for a cache on disk."""
        rows = [[*r.kind, r.plural, r.namespaced, sorted(r.verbs), sorted(r.subresources)] for r in self.by_kind.values()]
        return {"resources": rows, "broken": self.broken}

    @classmethod
    def load(cls, dumped: dict[str, Any]) -> ServedResources:
        """Reads the output of `dump`. Raises KeyError, TypeError or ValueError for anything else."""
        served = cls(broken=list(dumped["broken"]))
        for group, version, kind, plural, namespaced, verbs, subresources in dumped["resources"]:
            served.add(Resource(Kind(group, version, kind), plural, namespaced, frozenset(verbs), frozenset(subresources)))
        return served


def read_aggregated(documents: Iterable[dict[str, Any]]) -> ServedResources:
    """Reads APIGroupDiscoveryLists (apidiscovery.k8s.io/v2), one for the core and one for all groups.

    A version whose freshness is Stale belongs to an API service that does not answer now, and is recorded in `broken`.
    """
    served = ServedResources()
    for document in documents:
        for group in document.get("items") or ():
            name = str((group.get("metadata") or {}).get("name") or "")
            for version in group.get("versions") or ():
                _add_version(served, name, version)
    return served


def _add_version(served: ServedResources, group: str, version: dict[str, Any]) -> None:
    number = str(version["version"])
    if version.get("freshness") == "Stale":
        served.broken.append(f"{group}/{number}" if group else number)
    for given in version.get("resources") or ():
        answers = given.get("responseKind") or {}
        kind = Kind(answers.get("group") or group, answers.get("version") or number, str(answers.get("kind") or ""))
        below = frozenset(subresource["subresource"] for subresource in given.get("subresources") or ())
        served.add(Resource(kind, given["resource"], given.get("scope") == "Namespaced", frozenset(given.get("verbs") or ()), below))
