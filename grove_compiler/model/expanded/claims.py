"""ResourceClaims that pods share, and which pods use which (shipped semantics §3.11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model import names
from grove_compiler.model.spec.sharing import ALL_REPLICAS, PER_REPLICA, SharingRef

if TYPE_CHECKING:
    from grove_compiler.model.expanded.derived import Clique, ExpandedSet

# What belongs to a request itself; everything else belongs to the device that it asks for, under `exactly` since v1beta2.
REQUEST_FIELDS = ("name", "exactly", "firstAvailable")


@dataclass(slots=True, eq=False)
class Claim:
    """A ResourceClaim made from a template. `index` is the replica of its owner that it is for, none when it is for all."""

    name: str
    owner: ObjectRef
    index: int | None
    spec: Manifest


def make_claims(set: ExpandedSet, refs: list[SharingRef], owner: ObjectRef, count: int) -> list[Claim]:
    """The claims of one owner with `count` replicas. Filters do not matter here: they decide only who uses a claim.

    A reference to a template that is nowhere to be seen makes no claim; a rule reports it.
    """
    claims: list[Claim] = []
    for ref in refs:
        spec = set.claim_spec(ref)
        if spec is None:
            continue
        indices: list[int | None] = [None] if ref.scope == ALL_REPLICAS else list(range(count))
        claims.extend(Claim(names.claim(owner.name, index, ref.name), owner, index, spec) for index in indices)
    return claims


def claim_names_of(clique: Clique) -> list[str]:
    """The claims that all pods of a clique use: the set's, then the scaling group's, then the clique's own."""
    result = _level(clique.set.resource_sharing, clique.set.name, clique.replica.index, lambda ref: _reaches(ref, clique))
    if clique.member is not None:
        group = clique.member.group
        result += _level(group.template.resource_sharing, group.name, clique.member.index, lambda ref: _reaches(ref, clique))
    own = clique.template.resource_sharing
    return result + [names.claim(clique.name, None, ref.name) for ref in own if ref.scope == ALL_REPLICAS]


def pod_claim_names_of(clique: Clique, index: int) -> list[str]:
    """The claims that only the pod with this index uses."""
    return [names.claim(clique.name, index, ref.name) for ref in clique.template.resource_sharing if ref.scope == PER_REPLICA]


def _level(refs: list[SharingRef], owner: str, index: int, reaches: Callable[[SharingRef], bool]) -> list[str]:
    """The names of one level: those for all replicas first, then those of one replica."""
    wanted = [ref for ref in refs if reaches(ref)]
    shared = [names.claim(owner, None, ref.name) for ref in wanted if ref.scope == ALL_REPLICAS]
    return shared + [names.claim(owner, index, ref.name) for ref in wanted if ref.scope == PER_REPLICA]


def _reaches(ref: SharingRef, clique: Clique) -> bool:
    """A filter names cliques or scaling groups. A scaling group's filter can name only cliques."""
    if ref.filter is None:
        return True
    group = clique.member.group.template.name if clique.member is not None else None
    return clique.template.name in ref.child_clique_names or group in ref.child_scaling_group_names


def spec_in_version(spec: Manifest, version: str) -> Manifest:
    """A claim's spec in the shape of `resource.k8s.io/<version>`: device requests nest under `exactly`, but not in v1beta1."""
    devices = spec.get("devices") or {}
    requests = devices.get("requests")
    if not requests:
        return spec
    reshape = _flat if version == "v1beta1" else _nested
    reshaped = [reshape(request) for request in requests]
    return spec if reshaped == requests else {**spec, "devices": {**devices, "requests": reshaped}}


def _flat(request: Manifest) -> Manifest:
    if "exactly" not in request:
        return request
    return {**{key: value for key, value in request.items() if key != "exactly"}, **(request["exactly"] or {})}


def _nested(request: Manifest) -> Manifest:
    loose = {key: value for key, value in request.items() if key not in REQUEST_FIELDS}
    if not loose:
        return request
    return {**{key: value for key, value in request.items() if key in REQUEST_FIELDS}, "exactly": loose}
