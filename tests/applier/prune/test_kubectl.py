"""kubectl and we on one real server: either prunes what the other applied, and both leave the same survivors."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from applier.errors import WriteConflict
from applier.outcome import Action, Outcome
from applier.plan.membership import PART_OF
from applier.prune import ApplySet, ApplySetError, ApplySetOptions, Budget, Deleter, OpenApplySet
from applier.prune.applyset import GROUP_KINDS, ID, NAMESPACES, TOOLING, applyset_id
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from applier.transport import ApiCluster

from .sets import account, config, graph, said, written

pytestmark = pytest.mark.cluster

Kubectl = Any


@pytest.fixture
def kubectl_apply(control_plane: ControlPlane, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Kubectl:
    """`kubectl apply --prune --applyset`, on the server's side."""
    monkeypatch.setenv("KUBECTL_APPLYSET", "true")

    async def apply(*manifests: Manifest, applyset: str = "shop") -> str:
        items = json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests})
        arguments = ["apply", "--server-side", "--prune", f"--applyset={applyset}", "-n", namespace, "-f", "-"]
        return (await asyncio.to_thread(control_plane.kubectl, *arguments, input=items)).stdout

    return apply


def tooling_of(control_plane: ControlPlane) -> str:
    """What this kubectl writes into its sets."""
    return f"kubectl/{json.loads(control_plane.kubectl('version', '--client', '-o', 'json').stdout)['clientVersion']['gitVersion']}"


def kubectls(namespace: str, tooling: str = "kubectl/ours") -> ApplySet:
    """A set that kubectl takes for its own: who else keeps it stands behind the slash."""
    return ApplySet(Kind("", "v1", "Secret"), namespace, "shop", tooling)


async def run(cluster: ApiCluster, applyset: ApplySet, *manifests: Manifest, **more: Any) -> list[Outcome]:
    pruning = await OpenApplySet.open(ApplySetOptions(applyset, **more), graph(*manifests), cluster)
    await pruning.widen()
    return await pruning.finish(await written(pruning.graph, cluster), Deleter(cluster))


def names(control_plane: ControlPlane, namespace: str, plural: str = "configmaps") -> list[str]:
    items = control_plane.request("GET", f"/api/v1/namespaces/{namespace}/{plural}")["items"]
    return sorted(item["metadata"]["name"] for item in items if item["metadata"]["name"] not in ("kube-root-ca.crt", "default"))


def parent(control_plane: ControlPlane, namespace: str) -> dict[str, Any]:
    metadata: dict[str, Any] = control_plane.request("GET", f"/api/v1/namespaces/{namespace}/secrets/shop")["metadata"]
    return metadata


async def test_we_prune_a_set_that_kubectl_applied(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str, kubectl_apply: Kubectl
) -> None:
    await kubectl_apply(*(config(f"c{number}", namespace) for number in range(20)), account("a", namespace))
    outcomes = await run(cluster, kubectls(namespace), *(config(f"c{number}", namespace) for number in range(10)))
    assert {outcome.action for outcome in outcomes} == {Action.PRUNED}
    assert len(outcomes) == 11
    assert names(control_plane, namespace) == sorted(f"c{number}" for number in range(10))
    assert names(control_plane, namespace, "serviceaccounts") == []


async def test_kubectl_prunes_a_set_that_we_applied(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str, kubectl_apply: Kubectl
) -> None:
    await run(
        cluster,
        kubectls(namespace, tooling_of(control_plane)),
        *(config(f"c{number}", namespace) for number in range(20)),
        account("a", namespace),
    )
    said = await kubectl_apply(*(config(f"c{number}", namespace) for number in range(10)))
    assert said.count("pruned") == 11
    assert names(control_plane, namespace) == sorted(f"c{number}" for number in range(10))
    assert names(control_plane, namespace, "serviceaccounts") == []


async def test_after_both_have_pruned_the_same_the_records_are_the_same(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str, kubectl_apply: Kubectl
) -> None:
    objects = [config("a", namespace), config("b", namespace), account("c", namespace)]
    records = []
    for turn in ("kubectl", "we"):
        for wanted in (objects, objects[:1]):
            if turn == "kubectl":
                await kubectl_apply(*wanted)
            else:
                await run(cluster, kubectls(namespace, tooling_of(control_plane)), *wanted)
        metadata = parent(control_plane, namespace)
        records.append((metadata["labels"], metadata["annotations"]))
        control_plane.request("DELETE", f"/api/v1/namespaces/{namespace}/secrets/shop")
        for name in names(control_plane, namespace):
            control_plane.request("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/{name}")
    assert records[0] == records[1]


async def test_a_set_that_we_have_pruned_is_pruned_by_kubectl_afterwards(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str, kubectl_apply: Kubectl
) -> None:
    await kubectl_apply(config("a", namespace), config("b", namespace))
    await run(cluster, kubectls(namespace), account("c", namespace))
    metadata = parent(control_plane, namespace)
    assert metadata["annotations"] == {TOOLING: "kubectl/ours", GROUP_KINDS: "ServiceAccount", NAMESPACES: ""}
    assert {entry["manager"] for entry in metadata["managedFields"]} == {"kubectl-applyset"}
    assert "c pruned" in await kubectl_apply(config("d", namespace))


async def test_kubectl_warns_of_nothing_when_it_comes_after_us(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str, kubectl_apply: Kubectl
) -> None:
    await run(cluster, kubectls(namespace, "kubectl/v1.0.0"), config("a", namespace))
    arguments = ["apply", "--server-side", "--field-manager=grove", "--prune", "--applyset=shop", "-n", namespace, "-f", "-"]
    done = await asyncio.to_thread(control_plane.kubectl, *arguments, input=json.dumps(config("b", namespace)))
    assert done.stderr.replace("warning: prune is an alpha feature", "").count("WARNING") == 0


async def test_we_refuse_a_set_of_another_tool(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str, kubectl_apply: Kubectl
) -> None:
    await kubectl_apply(config("a", namespace))
    theirs = re.escape(tooling_of(control_plane))
    with pytest.raises(ApplySetError, match=rf"is managed by {theirs}, not by grove: prune it with that tool"):
        await run(cluster, kubectls(namespace, "grove/1.0"), config("a", namespace))


async def test_kubectl_refuses_a_set_of_another_tool(cluster: ApiCluster, namespace: str, kubectl_apply: Kubectl) -> None:
    await run(cluster, kubectls(namespace, "grove/1.0"), config("a", namespace))
    with pytest.raises(ControlPlaneError, match='managed by tooling "grove" instead of "kubectl"'):
        await kubectl_apply(config("a", namespace))


async def test_a_record_with_resources_instead_of_kinds_is_read_and_rewritten(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str
) -> None:
    await run(cluster, kubectls(namespace), config("a", namespace), account("b", namespace))
    old = {GROUP_KINDS: None, "applyset.kubernetes.io/contains-group-resources": "configmaps,serviceaccounts"}
    patch = {"metadata": {"annotations": old}}
    control_plane.request("PATCH", f"/api/v1/namespaces/{namespace}/secrets/shop", patch, content_type="application/merge-patch+json")
    assert said(await run(cluster, kubectls(namespace), config("a", namespace))) == {"b": "pruned"}
    assert parent(control_plane, namespace)["annotations"][GROUP_KINDS] == "ConfigMap"


async def test_the_record_is_not_written_over_another_run(cluster: ApiCluster, control_plane: ControlPlane, namespace: str) -> None:
    await run(cluster, kubectls(namespace), config("a", namespace))
    pruning = await OpenApplySet.open(ApplySetOptions(kubectls(namespace)), graph(config("b", namespace)), cluster)
    other = await OpenApplySet.open(ApplySetOptions(kubectls(namespace)), graph(config("a", namespace), account("c", namespace)), cluster)
    await other.widen()
    await pruning.finish([], Deleter(cluster))
    assert parent(control_plane, namespace)["annotations"][GROUP_KINDS] == "ConfigMap,ServiceAccount"


async def test_a_server_says_conflict_when_the_record_has_moved_on(cluster: ApiCluster, namespace: str) -> None:
    await run(cluster, kubectls(namespace), config("a", namespace))
    pruning = await OpenApplySet.open(ApplySetOptions(kubectls(namespace)), graph(account("b", namespace)), cluster)
    pruning.keeper.record.resource_version = "1"
    with pytest.raises(WriteConflict):
        await pruning.keeper._write(pruning.keeper.before)


async def test_a_custom_parent_needs_a_definition_that_allows_it(cluster: ApiCluster, control_plane: ControlPlane, namespace: str) -> None:
    group = f"{namespace}.example.org"
    labels = {"applyset.kubernetes.io/is-parent-type": "true"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names_of = {"plural": "shops", "kind": "Shop", "singular": "shop"}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"shops.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names_of, "versions": versions},
    }
    applyset = ApplySet(Kind(group, "v1", "Shop"), namespace, "shop", "grove/1.0")
    shop = {"apiVersion": f"{group}/v1", "kind": "Shop", "metadata": {"name": "shop", "namespace": namespace}}
    try:
        control_plane.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        await asyncio.to_thread(control_plane.kubectl, "wait", "--for=condition=established", f"crd/shops.{group}")
        await asyncio.to_thread(control_plane.objects.await_served, [f"shops.{group}"])
        with pytest.raises(ApplySetError, match=r"has the label applyset\.kubernetes\.io/is-parent-type=true"):
            await OpenApplySet.open(ApplySetOptions(applyset), graph(), cluster)
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shops.{group}"
        control_plane.request("PATCH", path, {"metadata": {"labels": labels}}, content_type="application/merge-patch+json")
        with pytest.raises(ApplySetError, match="does not exist: only a missing Secret or ConfigMap is created"):
            await OpenApplySet.open(ApplySetOptions(applyset), graph(), cluster)
        record = {ID: applyset_id(applyset.parent)}
        annotations = {TOOLING: "grove/0.9", GROUP_KINDS: ""}
        made = {**shop, "metadata": {"name": "shop", "namespace": namespace, "labels": record, "annotations": annotations}}
        control_plane.request("POST", f"/apis/{group}/v1/namespaces/{namespace}/shops", made)
        await run(cluster, applyset, config("a", namespace), config("b", namespace))
        assert said(await run(cluster, applyset, config("a", namespace))) == {"b": "pruned"}
    finally:
        control_plane.request("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shops.{group}")


async def test_a_label_that_the_server_copies_makes_no_member(cluster: ApiCluster, control_plane: ControlPlane, namespace: str) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": namespace},
        "spec": {"selector": {"app": "a"}, "ports": [{"port": 80}]},
    }
    slice_of_ours = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "ours", "namespace": namespace},
        "addressType": "IPv4",
        "endpoints": [],
    }
    await run(cluster, kubectls(namespace), service, slice_of_ours)
    slices = await cluster.resource(Kind("discovery.k8s.io", "v1", "EndpointSlice"))
    async for event in cluster.watch(slices, namespace, initial=True):
        if event.object and (copy := event.object["metadata"]).get("name", "ours") != "ours":
            break
    assert copy["labels"][PART_OF] == kubectls(namespace).id
    assert said(await run(cluster, kubectls(namespace), service)) == {"ours": "pruned"}


async def test_more_than_the_budget_is_held_until_it_is_approved(cluster: ApiCluster, control_plane: ControlPlane, namespace: str) -> None:
    await run(cluster, kubectls(namespace), *(config(f"c{number}", namespace) for number in range(10)))
    pruning = await OpenApplySet.open(
        ApplySetOptions(kubectls(namespace), budget=Budget.read("50%")), graph(config("c0", namespace)), cluster
    )
    assert {step.action for step in pruning.steps} == {Action.HELD}
    outcomes = await run(cluster, kubectls(namespace), config("c0", namespace), budget=Budget.read("50%"), approval=pruning.approval)
    assert len(outcomes) == 9
    assert names(control_plane, namespace) == ["c0"]
