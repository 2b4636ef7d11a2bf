"""Models the ResourceClaims that pods share: which pods use which (shipped semantics §3.11), and which templates they wait for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.expanded.domains import pod_claim
from grove_compiler.model.expanded.live_pods import live_pods
from grove_compiler.model.expanded.pods import pods
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, ScalingGroup
from grove_compiler.model.expanded.tally import tally
from grove_compiler.model.lazy import memoized
from grove_compiler.model.names import replica_of
from grove_compiler.model.spec.sharing import ALL_REPLICAS, CLAIM_API_VERSION, PER_REPLICA, SharingReach, SharingRef
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

# The fields of a request itself; everything else describes the requested device and is nested under `exactly` since v1beta2.
REQUEST_FIELDS = ("name", "exactly", "firstAvailable")


@record
class Claim:
    """A ResourceClaim made from a template. `index` is the replica of its owner that it is for, none when it is for all."""

    name: str
    owner: ObjectRef
    index: int | None
    spec: Manifest


class ClaimDecisions(Protocol):
    @staticmethod
    def shared_claim_name(owner: str, index: int | None, template: str) -> str:
        """Decides the name of a shared ResourceClaim: of one replica of its owner, or of all of them where `index` is none."""


def claims(owner: ExpandedSet | ScalingGroup | Clique) -> list[Claim]:
    """Returns the shared claims that a set, scaling group or clique owns. Filters do not matter here: they only select the users.

    A reference to a missing template yields no claim, and a rule reports it; claims that were created from it before are retained.
    """
    if isinstance(owner, ExpandedSet):
        pcs, refs, count = owner, owner.resource_sharing, owner.replica_count
    else:
        pcs, refs, count = owner.set, owner.template.resource_sharing, owner.replicas
    result: list[Claim] = []
    for ref in refs:
        template = _claim_spec(pcs, ref)
        indices: Sequence[int | None] = [None] if ref.scope == ALL_REPLICAS else _indices(owner, count)
        for index in indices:
            name = _name(pcs, owner.ref.name, index, ref)
            spec = (_live_claim(pcs, name) or {}).get("spec") if template is None else template
            if spec is not None:
                result.append(Claim(name, owner.ref, index, spec))
    return result


def _indices(owner: ExpandedSet | ScalingGroup | Clique, count: int) -> Sequence[int]:
    """Returns the indices of an owner's replicas. Scale-in deletes unready pods first, so an index of a clique may be beyond `count`."""
    if isinstance(owner, Clique) and not owner.set.is_training:
        return [pod.index for pod in pods(owner)]
    return range(count)


@memoized
def _shared_by_all(clique: Clique) -> list[tuple[SharingRef, str]]:
    """Returns the claims that all pods of a clique use, each with its reference: the set's, the scaling group's, the clique's own."""
    pcs, template, member = clique.set, clique.template, clique.member
    if not (pcs.resource_sharing or template.resource_sharing or (template.group and template.group.resource_sharing)):
        return []
    shared = _level(clique, pcs, pcs.name, clique.replica.index)
    if member is not None:
        shared += _level(clique, member.group.template, member.group.name, member.index)
    return shared + [(ref, _name(pcs, clique.name, None, ref)) for ref in template.resource_sharing if ref.scope == ALL_REPLICAS]


def claim_names(clique: Clique) -> list[str]:
    """Returns the claims that all pods of a clique use: the set's, then the scaling group's, then the clique's own."""
    return [name for _, name in _shared_by_all(clique)]


def pod_claim_names(clique: Clique, index: int) -> list[str]:
    """Returns the claims that only the pod with this index uses."""
    return [name for _, name in _of_pod(clique, index)]


def _of_pod(clique: Clique, index: int) -> list[tuple[SharingRef, str]]:
    refs = (ref for ref in clique.template.resource_sharing if ref.scope == PER_REPLICA)
    return [(ref, _name(clique.set, clique.name, index, ref)) for ref in refs]


@memoized
def unresolved_sharing(pcs: ExpandedSet) -> list[SharingRef]:
    """Returns the references to claim templates that are neither in the manifest nor in the snapshot."""
    refs = [*pcs.resource_sharing, *_refs(pcs.groups), *_refs(pcs.cliques)]
    return [ref for ref in refs if _claim_spec(pcs, ref) is None]


def _refs(templates: Sequence[ScalingGroupTemplate] | Sequence[CliqueTemplate]) -> Iterator[SharingRef]:
    return (ref for template in templates for ref in template.resource_sharing)


def _claim_spec(pcs: ExpandedSet, ref: SharingRef) -> Manifest | None:
    """Returns the claim spec of the referenced template: from the set's own templates, else from the cluster."""
    own = None if ref.namespace else pcs.claim_templates_by_name.get(ref.name)
    if own is not None:
        return spec_in_version(own.spec, pcs.settings.resource_api)
    template = _claim_template(pcs, ref.namespace or pcs.namespace, ref.name)
    return spec_in_version((template.get("spec") or {}).get("spec") or {}, pcs.settings.resource_api) if template else None


def _live_claim(pcs: ExpandedSet, name: str) -> Manifest | None:
    """Returns an existing claim, whose template may be gone; pods still use it, and a claim's spec is immutable."""
    return pcs.snapshot.live(ObjectRef(CLAIM_API_VERSION, "ResourceClaim", pcs.namespace, name))


def _claim_template(pcs: ExpandedSet, namespace: str, name: str) -> Manifest | None:
    """Returns a ResourceClaimTemplate of the cluster or the input; a manifest without a namespace is in the default namespace."""
    manifest = pcs.snapshot.get(CLAIM_API_VERSION, "ResourceClaimTemplate", namespace, name)
    if manifest is None and namespace == pcs.default_namespace:
        manifest = pcs.snapshot.get(CLAIM_API_VERSION, "ResourceClaimTemplate", "", name)
    return manifest


def _name(pcs: ExpandedSet, owner: str, index: int | None, ref: SharingRef) -> str:
    return pcs.decisions.of(ClaimDecisions).shared_claim_name(owner, index, ref.name)


def _level(clique: Clique, level: ExpandedSet | ScalingGroupTemplate, owner: str, index: int) -> list[tuple[SharingRef, str]]:
    """Returns the claims of one level that apply to a clique: those for all replicas first, then those of one replica."""
    ordered = sorted(_applying(level, clique), key=lambda ref: ref.scope != ALL_REPLICAS)
    return [(ref, _name(clique.set, owner, None if ref.scope == ALL_REPLICAS else index, ref)) for ref in ordered]


def _applying(level: ExpandedSet | ScalingGroupTemplate, clique: Clique) -> list[SharingRef]:
    """Returns the references of a level whose filters match a clique, by its own name or by that of its scaling group."""
    if not level.resource_sharing:
        return []
    return _reach(level).of(clique.template.name, clique.member.group.template.name if clique.member is not None else "")


@memoized
def _reach(level: ExpandedSet | ScalingGroupTemplate) -> SharingReach:
    return SharingReach(level.resource_sharing)


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


@memoized
def missing_shared_templates(clique: Clique) -> list[str]:
    """Returns the missing templates of shared claims that new pods of a clique need, each as `namespace/name`.

    A claim that was made before its template went still serves. Only the operator can tell: a file may lack what the cluster has.
    """
    pcs = clique.set
    if not pcs.settings.is_operator or not unresolved_sharing(pcs):
        return []
    names = ((ref, name) for index in _indices(clique, clique.replicas) for ref, name in _of_pod(clique, index))
    lacking = (ref for ref, name in (*_shared_by_all(clique), *names) if _claim_spec(pcs, ref) is None and _live_claim(pcs, name) is None)
    return list(dict.fromkeys(f"{ref.namespace or pcs.namespace}/{ref.name}" for ref in lacking))


@memoized
def awaited_claim_templates(clique: Clique) -> list[str]:
    """Returns the templates that pods of a clique wait for, each as `namespace/name`, including those from which Kubernetes makes claims.

    The latter only count while a pod waits to be scheduled: the driver makes the template of a ComputeDomain a moment after it.
    """
    waits = any(not pod.node_name and not pod.is_gated for pod in live_pods(clique)) if clique.set.settings.is_operator else False
    return list(dict.fromkeys([*missing_shared_templates(clique), *(_missing_own_templates(clique) if waits else ())]))


@memoized
def awaited_claim_templates_of_set(pcs: ExpandedSet) -> list[str]:
    """Returns the templates that any pods of a set wait for, in the order of its replicas and cliques.

    Only reads the pods of PodCliques whose condition says that they wait: reading all pods of a set would not scale.
    """
    waiting = tally(pcs).waiting
    indices = sorted({index for name in waiting if (index := replica_of(name, pcs.name)) is not None and index < pcs.replica_count})
    cliques = (clique for index in indices for clique in pcs.replicas[index].all_cliques if clique.name in waiting)
    return list(dict.fromkeys(name for clique in cliques for name in awaited_claim_templates(clique)))


def _missing_own_templates(clique: Clique) -> Iterator[str]:
    """Yields the missing templates that the pods name themselves, from which each pod gets its own claim."""
    named = [claim.get("resourceClaimTemplateName") for claim in clique.template.pod_spec.get("resourceClaims") or []]
    domain = pod_claim(clique)
    for name in (*named, domain.template if domain is not None else None):
        if name and clique.set.snapshot.get(CLAIM_API_VERSION, "ResourceClaimTemplate", clique.set.namespace, name) is None:
            yield f"{clique.set.namespace}/{name}"
