"""Models declared resource sharing: claim templates, and the references to them (shipped semantics §1.2, §3.11)."""

from __future__ import annotations

from collections.abc import Sequence

from grove_compiler.graph.node import Manifest
from grove_compiler.model.declared import declared, optional
from grove_compiler.record import record

CLAIM_API_VERSION = "resource.k8s.io/v1"
ALL_REPLICAS = "AllReplicas"
PER_REPLICA = "PerReplica"


@record(slots=False)
class ClaimTemplate:
    """An entry of `spec.template.resourceClaimTemplates`."""

    manifest: Manifest
    index: int
    path: str

    name = declared(str, "name")
    metadata = declared(Manifest, "templateSpec.metadata", "Labels and annotations of the claims.")
    spec = declared(Manifest, "templateSpec.spec", "The claim's spec.")
    requests = declared(list[Manifest], "templateSpec.spec.devices.requests")


@record(slots=False)
class SharingRef:
    """An entry of `resourceSharing` at any level: the claim template, the scope, and the filter of children."""

    manifest: Manifest
    index: int
    path: str

    name = declared(str, "name")
    namespace = declared(str, "namespace")
    scope = declared(str, "scope")
    filter = optional(Manifest, "filter", "None matches every child.")
    child_clique_names = declared(list[str], "filter.childCliqueNames")
    child_scaling_group_names = declared(list[str], "filter.childScalingGroupNames")


class SharingReach:
    """Finds the references of one level that apply to a clique. By name, since there may be thousands of both."""

    def __init__(self, refs: Sequence[SharingRef]) -> None:
        self._refs = refs
        self._all = [position for position, ref in enumerate(refs) if ref.filter is None]
        self._by_clique, self._by_group = dict[str, list[int]](), dict[str, list[int]]()
        for position, ref in enumerate(refs):
            for children, names in ((self._by_clique, ref.child_clique_names), (self._by_group, ref.child_scaling_group_names)):
                for name in names:
                    children.setdefault(name, []).append(position)

    def of(self, clique: str, group: str = "") -> list[SharingRef]:
        """Returns the references without a filter, or whose filter has the name of the clique or of its scaling group, in their order."""
        positions = {*self._all, *self._by_clique.get(clique, ()), *self._by_group.get(group, ())}
        return [self._refs[position] for position in sorted(positions)]


def sharing_in(holder: Manifest, path: str) -> list[SharingRef]:
    """Returns the `resourceSharing` of a set's template, a clique or a scaling group, which stands at `path`."""
    entries = holder.get("resourceSharing") or []
    return [SharingRef(entry, index, f"{path}.resourceSharing[{index}]") for index, entry in enumerate(entries)]


def device_request_names(claim: Manifest) -> list[str]:
    """Returns the request names that constraints and configs of a claim's `devices` may use, and `REQUEST/ALTERNATIVE` (KEP-4816)."""
    names = []
    for request in claim.get("requests") or []:
        name = str(request.get("name") or "")
        names += [name, *(f"{name}/{alternative.get('name') or ''}" for alternative in request.get("firstAvailable") or [])]
    return names
