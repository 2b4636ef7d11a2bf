"""Topology constraints: what a set, a scaling group or a clique asks for, and what that means in a cluster's node labels."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.graph.node import Manifest
from grove_compiler.model.spec.topology import Topology


@dataclass(slots=True, eq=False)
class Constraint:
    """A `topologyConstraint` as declared.

    `required` and `preferred` are domains, none where nothing is asked; `packDomain` of the design counts as required. `path` is the
    constraint's, `required_path` that of the field which names the required domain.
    """

    path: str
    topology_name: str | None
    required: str | None
    preferred: str | None
    required_path: str
    uses_pack: bool
    uses_pack_domain: bool
    names_required_twice: bool

    @property
    def preferred_path(self) -> str:
        return f"{self.path}.pack.preferred"

    @property
    def domains(self) -> list[str]:
        """The domains that it names, the required one first."""
        return [domain for domain in (self.required, self.preferred) if domain]


@dataclass(slots=True, eq=False)
class NestedConstraint:
    """A constraint inside another: their domains must narrow from the outer to the inner (GREP-244, Rule 2)."""

    outer: Constraint
    inner: Constraint


@dataclass(slots=True, eq=False)
class DomainUse:
    """A domain that some constraint names, and where."""

    domain: str
    path: str


def read_constraint(manifest: Manifest | None, path: str) -> Constraint | None:
    """The constraint at a path; none when the manifest has none."""
    if manifest is None:
        return None
    pack = manifest.get("pack") or {}
    domain = manifest.get("packDomain")
    required = pack.get("required") or domain
    return Constraint(
        path=path,
        topology_name=manifest.get("topologyName") or None,
        required=required or None,
        preferred=pack.get("preferred") or None,
        required_path=f"{path}.{'pack.required' if pack.get('required') else 'packDomain'}",
        uses_pack=manifest.get("pack") is not None,
        uses_pack_domain=bool(domain),
        names_required_twice=bool(domain and pack.get("required")),
    )


def translate(constraint: Constraint | None, topology: Topology | None) -> Manifest | None:
    """`packConstraint` in node label keys. Domains that the topology lacks are dropped; none when nothing is left (shipped §4.3)."""
    if constraint is None or topology is None:
        return None
    keys = {"required": topology.key_of(constraint.required), "preferred": topology.key_of(constraint.preferred)}
    known = {name: key for name, key in keys.items() if key}
    return {"packConstraint": known} if known else None


def domain_uses(constraints: list[Constraint]) -> list[DomainUse]:
    """Every domain that the constraints name, with the path of the field that names it."""
    uses = []
    for constraint in constraints:
        if constraint.required:
            uses.append(DomainUse(constraint.required, constraint.required_path))
        if constraint.preferred:
            uses.append(DomainUse(constraint.preferred, constraint.preferred_path))
    return uses
