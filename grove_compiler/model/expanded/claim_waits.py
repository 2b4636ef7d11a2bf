"""Finds the claim templates that pods wait for because they do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.expanded.claims import CLAIM_API_VERSION, has_claim_template, unresolved_sharing, uses_of_claims
from grove_compiler.model.expanded.domains import pod_claim
from grove_compiler.model.expanded.live_pods import live_pods
from grove_compiler.model.expanded.structure import Clique, ExpandedSet
from grove_compiler.model.expanded.tally import tally
from grove_compiler.model.lazy import memoized
from grove_compiler.model.names import replica_of


@memoized
def missing_shared_templates(clique: Clique) -> list[str]:
    """Returns the missing templates of shared claims that new pods of a clique need, each as `namespace/name`.

    A claim that was made before its template went still serves. Only the operator can tell: a file may lack what the cluster has.
    """
    pcs = clique.set
    if not pcs.settings.is_operator or not unresolved_sharing(pcs):
        return []
    refs = [(ref, names) for ref, names in uses_of_claims(clique) if not has_claim_template(pcs, ref)]
    lacking = (ref for ref, names in refs if any(_claim(pcs, name) is None for name in names))
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


def _claim(pcs: ExpandedSet, name: str) -> object:
    return pcs.snapshot.live(ObjectRef(CLAIM_API_VERSION, "ResourceClaim", pcs.namespace, name))
