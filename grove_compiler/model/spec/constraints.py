"""Models topology constraints of a set, a scaling group or a clique, and translates them to a cluster's node labels."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.model.declared import declared
from grove_compiler.model.spec.mention import Mention
from grove_compiler.model.spec.topology import Topology
from grove_compiler.record import record


@record(slots=False)
class Constraint:
    """A declared `topologyConstraint` at `path`, `of` what upstream's messages call its holder. Domains that it does not name are empty."""

    manifest: Manifest
    path: str
    of: str

    topology_name = declared(str, "topologyName")
    pack_domain = declared(str, "packDomain", "How the design names the required domain.")
    pack_required = declared(str, "pack.required", "How upstream Grove names the required domain.")
    preferred = declared(str, "pack.preferred")

    @property
    def required(self) -> str:
        """The required domain, from `pack.required` or from `packDomain`."""
        return self.pack_required or self.pack_domain

    @property
    def required_path(self) -> str:
        """The field that names the required domain."""
        return f"{self.path}.{'pack.required' if self.pack_required else 'packDomain'}"

    @property
    def preferred_path(self) -> str:
        return f"{self.path}.pack.preferred"

    @property
    def uses_pack(self) -> bool:
        """Whether it has upstream's form (`pack`)."""
        return self.manifest.get("pack") is not None

    @property
    def uses(self) -> list[Mention]:
        """The domains that it names, the required one first."""
        uses = Mention(self.required, self.required_path), Mention(self.preferred, self.preferred_path)
        return [use for use in uses if use.name]


@record
class NestedConstraint:
    """A constraint inside another: their domains must narrow from the outer to the inner (GREP-244, Rule 2)."""

    outer: Constraint
    inner: Constraint


def constraint_in(holder: Manifest, path: str, of: str) -> Constraint | None:
    """Returns the constraint of a set's template, a clique or a scaling group, which stands at `path`; none without one."""
    manifest = holder.get("topologyConstraint")
    return None if manifest is None else Constraint(manifest, f"{path}.topologyConstraint", of)


def translate(constraint: Constraint | None, topology: Topology | None) -> Manifest | None:
    """Returns the `packConstraint` in node label keys, without domains that the topology lacks; none if none is left."""
    if constraint is None or topology is None:
        return None
    keys = {"required": topology.key_of(constraint.required), "preferred": topology.key_of(constraint.preferred)}
    pack = {name: key for name, key in keys.items() if key}
    return {"packConstraint": pack} if pack else None
