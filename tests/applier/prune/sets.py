"""Sets on a cluster in memory: made, applied and pruned as a run does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from applier.cluster import Cluster, Listing
from applier.desired import Desired, Graph
from applier.outcome import Action, Outcome, Step
from applier.prune import ApplySet, ApplySetOptions, Budget, Deleter, OpenApplySet
from applier.ref import Kind, Manifest, Ref, uid_of
from applier.testing.memory import MemoryCluster

SECRET = Kind("", "v1", "Secret")
CONFIG_MAP = Kind("", "v1", "ConfigMap")


def applyset(tooling: str = "grove/1.0", **more: Any) -> ApplySet:
    return ApplySet(more.pop("kind", SECRET), more.pop("namespace", "default"), more.pop("name", "shop"), tooling, **more)


def config(name: str, namespace: str = "default", **metadata: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace, **metadata}, "data": {"a": "1"}}


def account(name: str, namespace: str = "default") -> Manifest:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}


def cluster_role(name: str) -> Manifest:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": []}


def graph(*manifests: Manifest) -> Graph:
    return Graph([Desired(manifest) for manifest in manifests])


async def written(wanted: Graph, cluster: Cluster) -> list[Outcome]:
    """Applies a graph, in order and without a look at what is there."""
    outcomes = []
    for desired in wanted.objects.values():
        resource = await cluster.resource(Kind.of(desired.manifest))
        live = await cluster.apply(resource, desired.manifest, manager="grove", force=True)
        outcomes.append(Outcome(Step(desired.ref, Action.CONFIGURED), Action.CONFIGURED, uid=uid_of(live)))
    return outcomes


async def run(
    cluster: MemoryCluster, *manifests: Manifest, of: ApplySet | None = None, limit: str = "", approval: str = ""
) -> list[Outcome]:
    """One run: apply and prune. Gives what became of the orphans."""
    budget = Budget.read(limit) if limit else None
    pruning = await OpenApplySet.open(ApplySetOptions(of or applyset(), budget=budget, approval=approval), graph(*manifests), cluster)
    await pruning.widen()
    return await pruning.finish(await written(pruning.graph, cluster), Deleter(cluster, seconds=0.05))


def there(cluster: MemoryCluster, kind: str = "ConfigMap") -> set[str]:
    """`namespace/name` of all objects of a kind."""
    return {f"{ref.namespace}/{ref.name}".strip("/") for ref in cluster.store.objects if ref.kind == kind}


def said(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """What became of each object, by name."""
    return {outcome.step.ref.name: str(outcome.action) for outcome in outcomes}


def annotation(cluster: MemoryCluster, name: str, parent: Ref | None = None) -> str | None:
    """An annotation of the parent, without its prefix."""
    found = cluster.find(parent or applyset().parent)
    return ((found or {}).get("metadata", {}).get("annotations") or {}).get(f"applyset.kubernetes.io/{name}")


def selectors_of_lists(cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by the label selector of each list that is made from now on."""
    asked: list[str] = []
    listed = cluster.list

    async def recorded(*where: Any, labels: str = "", **more: Any) -> Listing:
        asked.append(labels)
        return await listed(*where, labels=labels, **more)

    monkeypatch.setattr(cluster, "list", recorded)
    return asked
