"""ResourceClaims that pods share, and which pods use which (shipped semantics §3.11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, ScalingGroup
from grove_compiler.model.lazy import remembered
from grove_compiler.model.spec.sharing import ALL_REPLICAS, PER_REPLICA, SharingRef
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

CLAIM_API_VERSION = "resource.k8s.io/v1"

# What belongs to a request itself; everything else belongs to the device that it asks for, under `exactly` since v1beta2.
REQUEST_FIELDS = ("name", "exactly", "firstAvailable")


@record
class Claim:
    """A ResourceClaim made from a template. `index` is the replica of its owner that it is for, none when it is for all."""

    name: str
    owner: ObjectRef
    index: int | None
    spec: Manifest


def shared_claim_name(owner: str, index: int | None, template: str) -> str:
    """Decides the name of a shared ResourceClaim: of one replica of its owner, or of all of them where `index` is none."""
    raise NotImplementedError


def claims(owner: ExpandedSet | ScalingGroup | Clique) -> list[Claim]:
    """Returns the shared claims that the set, a scaling group or a clique owns. Filters do not matter here: they say only who uses one.

    A reference to a template that is nowhere to be seen makes no claim; a rule reports it. Claims that were made from one stay as they are.
    """
    if isinstance(owner, ExpandedSet):
        set, refs, count = owner, owner.resource_sharing, owner.replica_count
    else:
        set, refs, count = owner.set, owner.template.resource_sharing, owner.replicas
    made: list[Claim] = []
    for ref in refs:
        template = _claim_spec(set, ref)
        indices: list[int | None] = [None] if ref.scope == ALL_REPLICAS else list(range(count))
        for index in indices:
            name = _name(set, owner.ref.name, index, ref)
            spec = _made_spec(set, name) if template is None else template
            if spec is not None:
                made.append(Claim(name, owner.ref, index, spec))
    return made


def uses_of_claims(clique: Clique) -> Iterator[tuple[SharingRef, list[str]]]:
    """Yields each reference to a template that reaches a clique, with the names of the claims that its pods use because of it."""
    set, template, member = clique.set, clique.template, clique.member
    for ref in set.resource_sharing:
        if _reaches(ref, clique):
            yield ref, [_name(set, set.name, None if ref.scope == ALL_REPLICAS else clique.replica.index, ref)]
    for ref in member.group.template.resource_sharing if member is not None else ():
        if member is not None and _reaches(ref, clique):
            yield ref, [_name(set, member.group.name, None if ref.scope == ALL_REPLICAS else member.index, ref)]
    for ref in template.resource_sharing:
        indices = [None] if ref.scope == ALL_REPLICAS else range(clique.replicas)
        yield ref, [_name(set, clique.name, index, ref) for index in indices]


@remembered
def claim_names(clique: Clique) -> list[str]:
    """Returns the claims that all pods of a clique use, whoever owns them: the set's, then the scaling group's, then the clique's own."""
    set, template = clique.set, clique.template
    if not (set.resource_sharing or template.resource_sharing or (template.group and template.group.resource_sharing)):
        return []
    result = _level(clique, set.resource_sharing, set.name, clique.replica.index)
    if clique.member is not None:
        group = clique.member.group
        result += _level(clique, group.template.resource_sharing, group.name, clique.member.index)
    return result + [_name(set, clique.name, None, ref) for ref in template.resource_sharing if ref.scope == ALL_REPLICAS]


def pod_claim_names(clique: Clique, index: int) -> list[str]:
    """Returns the claims that only the pod with this index uses."""
    return [_name(clique.set, clique.name, index, ref) for ref in clique.template.resource_sharing if ref.scope == PER_REPLICA]


def unresolved_sharing(set: ExpandedSet) -> list[SharingRef]:
    """Returns references to claim templates that are neither in the manifest nor among the objects that exist."""
    refs = [*set.resource_sharing, *_refs(set.groups), *_refs(set.cliques)]
    return [ref for ref in refs if _claim_spec(set, ref) is None]


def has_claim_template(set: ExpandedSet, ref: SharingRef) -> bool:
    """Tells whether the template that is referred to is in the set or in the cluster."""
    return _claim_spec(set, ref) is not None


def _refs(templates: Sequence[ScalingGroupTemplate] | Sequence[CliqueTemplate]) -> Iterator[SharingRef]:
    return (ref for template in templates for ref in template.resource_sharing)


def _claim_spec(set: ExpandedSet, ref: SharingRef) -> Manifest | None:
    """The spec of claims made from the template that is referred to: the manifest's own, else an object of the cluster."""
    own = None if ref.namespace else next((entry for entry in set.claim_templates if entry.name == ref.name), None)
    if own is not None:
        return spec_in_version(own.spec, set.settings.resource_api)
    template = _claim_template(set, ref.namespace or set.namespace, ref.name)
    return spec_in_version((template.get("spec") or {}).get("spec") or {}, set.settings.resource_api) if template else None


def _made_spec(set: ExpandedSet, name: str) -> Manifest | None:
    """The spec of a claim that exists. What it was made from may be gone; pods that run use it all the same, and a claim never changes."""
    live = set.snapshot.live(ObjectRef(CLAIM_API_VERSION, "ResourceClaim", set.namespace, name)) if set.snapshot else None
    return live.get("spec") if live is not None else None


def _claim_template(set: ExpandedSet, namespace: str, name: str) -> Manifest | None:
    """An object of the cluster or of the input; a manifest without a namespace goes where the set without one would."""
    manifest = set.snapshot.get(CLAIM_API_VERSION, "ResourceClaimTemplate", namespace, name)
    if manifest is None and namespace == set.default_namespace:
        manifest = set.snapshot.get(CLAIM_API_VERSION, "ResourceClaimTemplate", "", name)
    return manifest


def _name(set: ExpandedSet, owner: str, index: int | None, ref: SharingRef) -> str:
    return set.decisions.of(shared_claim_name)(owner, index, ref.name)


def _level(clique: Clique, refs: list[SharingRef], owner: str, index: int) -> list[str]:
    """The names of one level that reach a clique: those for all replicas first, then those of one replica."""
    wanted = [ref for ref in refs if _reaches(ref, clique)]
    shared = [_name(clique.set, owner, None, ref) for ref in wanted if ref.scope == ALL_REPLICAS]
    return shared + [_name(clique.set, owner, index, ref) for ref in wanted if ref.scope == PER_REPLICA]


def _reaches(ref: SharingRef, clique: Clique) -> bool:
    """A filter names cliques or scaling groups. A scaling group's filter can name only cliques."""
    if ref.filter is None:
        return True
    group = clique.member.group.template.name if clique.member is not None else None
    return clique.template.name in ref.child_clique_names or group in ref.child_scaling_group_names


def spec_in_version(spec: Manifest, version: str) -> Manifest:
    """Returns a claim's spec in the shape of `resource.k8s.io/<version>`: device requests nest under `exactly`, but not in v1beta1."""
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
