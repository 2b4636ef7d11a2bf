"""What the MNNVL webhooks write: domains and claims once, nothing for a trial, and a plain word where they cannot."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Any

import pytest

from applier.cluster import Resource
from applier.errors import Forbidden
from applier.ref import Kind
from applier.testing.memory import MemoryCluster
from applier.testing.memory.kinds import VERBS
from applier.testing.virtual_time import run_virtual
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import StepContext
from grove_operator.controller.domain_adoption import DomainAdoption
from grove_operator.webhooks.domains import DomainWebhooks
from grove_operator.webhooks.review import Reviewer, read_request
from tests.webhooks.conftest import Manifest, asked

SETTINGS = Settings(namespace="team", mnnvl_shape="as-proposed", kube_version="1.35")
KINDS = {
    Kind("grove.io", "v1alpha1", "PodCliqueSet"): "podcliquesets",
    Kind("scheduler.grove.io", "v1alpha1", "PodGang"): "podgangs",
    Kind("resource.nvidia.com", "v1alpha1", "ComputeDomain"): "computedomains",
}
SET = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {"name": "demo", "namespace": "team"},
    "spec": {"template": {"cliques": []}},
}
GANG = {
    "apiVersion": "scheduler.grove.io/v1alpha1",
    "kind": "PodGang",
    "metadata": {"name": "demo-0", "namespace": "team", "labels": {"grove.io/pcs-name": "demo", "grove.io/pcs-replica-index": "0"}},
}


def podclique(name: str) -> Manifest:
    labels = {"grove.io/pcs-name": "demo", "grove.io/pcs-replica-index": "0"}
    metadata = {"name": name, "namespace": "team", "labels": labels, "annotations": {"grove.io/mnnvl-enabled": "true"}}
    container = {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 4}}}
    spec = {"podSpec": {"containers": [container]}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": spec}


def with_grove(cluster: MemoryCluster) -> MemoryCluster:
    for kind, plural in KINDS.items():
        cluster.serve(Resource(kind, plural, True, VERBS))
    cluster.seed(SET)
    return cluster


def names(cluster: MemoryCluster) -> list[str]:
    kinds = (("resource.nvidia.com", "ComputeDomain"), ("resource.k8s.io", "ResourceClaim"))
    return [one["metadata"]["name"] for group, kind in kinds for one in cluster.store.of(group, kind)]


def answered(program: Program, cluster: MemoryCluster, *reviews: Manifest) -> list[Manifest]:
    webhooks, reviewer = DomainWebhooks(cluster, ObjectList), Reviewer(StepContext(program, SETTINGS))

    async def all_of(requests: Sequence[Manifest]) -> list[Manifest]:
        answers = (webhooks.podclique(read_request(one), reviewer) for one in requests)
        return [one["response"] for one in await asyncio.gather(*answers)]

    return run_virtual(all_of(reviews))


def claims(response: Manifest) -> list[list[Manifest]]:
    patch = json.loads(base64.b64decode(response["patch"]))
    return [one["value"] for one in patch if one["path"] == "/spec/podSpec/resourceClaims"]


def test_two_podcliques_at_once_share_one_domain_and_one_claim(program: Program) -> None:
    cluster = with_grove(MemoryCluster(namespaces=["team"]))
    responses = answered(program, cluster, *(asked("CREATE", podclique(name)) for name in ("demo-0-a", "demo-0-b")))
    assert all(one["allowed"] for one in responses)
    assert [claims(one) for one in responses] == [[[{"name": "mnnvl", "resourceClaimName": "demo-0-mnnvl-claim"}]]] * 2
    assert names(cluster) == ["demo-0-cd", "demo-0-mnnvl-claim"]


def test_a_trial_shows_the_claim_and_makes_nothing(program: Program) -> None:
    cluster = with_grove(MemoryCluster(namespaces=["team"]))
    [response] = answered(program, cluster, asked("CREATE", podclique("demo-0-a"), dryRun=True))
    assert (bool(claims(response)), names(cluster)) == (True, [])


GPU_CLIQUE = {
    "name": "worker",
    "spec": {"podSpec": {"containers": [{"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 4}}}]}},
}


def with_intent(enabled: str) -> MemoryCluster:
    """A cluster with a set that says so."""
    cluster = with_grove(MemoryCluster(namespaces=("team",)))
    metadata = {"name": "demo", "namespace": "team", "annotations": {"grove.io/mnnvl-enabled": enabled}}
    cluster.seed({**SET, "metadata": metadata, "spec": {"template": {"cliques": [GPU_CLIQUE]}}})
    return cluster


def without(podclique: Manifest) -> Manifest:
    """A PodClique as a controller writes it that hands no annotations on."""
    return {**podclique, "metadata": {**podclique["metadata"], "annotations": {}}}


def patched(program: Program, cluster: MemoryCluster, new: Manifest, old: Manifest) -> list[tuple[str, Any]]:
    """The patch of an update that is let through."""
    [response] = answered(program, cluster, asked("UPDATE", new, old))
    assert response["allowed"]
    return [(one["path"], one["value"]) for one in json.loads(base64.b64decode(response.get("patch", "W10=")))]


def test_a_podclique_that_came_while_webhooks_were_away_stays_as_it_is_and_can_be_edited(program: Program) -> None:
    """With the annotations of its set each update would be a change of them, which is rejected: nobody could write it any more."""
    cluster, old = with_intent("true"), without(podclique("demo-0-worker"))
    assert patched(program, cluster, {**old, "spec": {**old["spec"], "replicas": 3}}, old) == []
    assert names(cluster) == []


def test_a_podclique_keeps_what_it_joined_whatever_its_set_says_since(program: Program) -> None:
    old = podclique("demo-0-worker")
    old["spec"]["podSpec"]["resourceClaims"] = [{"name": "mnnvl", "resourceClaimName": "demo-0-mnnvl-claim"}]
    patch = dict(patched(program, with_intent("false"), without(podclique("demo-0-worker")), old))
    assert patch["/metadata/annotations"] == {"grove.io/mnnvl-enabled": "true"}
    assert patch["/spec/podSpec/resourceClaims"] == old["spec"]["podSpec"]["resourceClaims"]


def test_an_update_that_will_be_rejected_makes_no_domain(program: Program) -> None:
    cluster, old, new = with_intent("true"), podclique("demo-0-worker"), podclique("demo-0-worker")
    new["metadata"]["annotations"]["grove.io/mnnvl-scope"] = "clique"
    patched(program, cluster, new, old)
    assert "demo-0-worker-cd" not in names(cluster)
    cluster = with_intent("true")
    patched(program, cluster, podclique("demo-0-worker"), without(podclique("demo-0-worker")))
    assert names(cluster) == []


def test_a_claim_stays_while_its_domain_is_being_deleted(program: Program) -> None:
    old = podclique("demo-0-worker")
    old["spec"]["podSpec"]["resourceClaims"] = [{"name": "mnnvl", "resourceClaimName": "demo-0-mnnvl-claim"}]
    cluster = with_intent("true")
    metadata = {"name": "demo-0-cd", "namespace": "team", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["driver"]}
    cluster.seed({"apiVersion": "resource.nvidia.com/v1alpha1", "kind": "ComputeDomain", "metadata": metadata, "spec": {}})
    assert dict(patched(program, cluster, podclique("demo-0-worker"), old))["/spec/podSpec/resourceClaims"]


def test_a_podclique_that_goes_makes_nothing(program: Program) -> None:
    cluster = with_grove(MemoryCluster(namespaces=["team"]))
    leaving = podclique("demo-0-a")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    [response] = answered(program, cluster, asked("UPDATE", leaving, leaving))
    assert (response["allowed"], names(cluster)) == (True, [])


class Refusing(MemoryCluster):
    """Lets nobody make a ComputeDomain."""

    async def create(self, resource: Any, manifest: Manifest, **options: Any) -> Manifest:
        if manifest["kind"] == "ComputeDomain":
            raise Forbidden(403, "Forbidden", "may not create computedomains")
        return await super().create(resource, manifest, **options)


def test_without_the_right_to_make_a_domain_the_podclique_is_refused_and_told_why(program: Program) -> None:
    [response] = answered(program, with_grove(Refusing(namespaces=["team"])), asked("CREATE", podclique("demo-0-a")))
    assert (response["allowed"], response["status"]["message"]) == (
        False,
        "metadata.annotations[grove.io/mnnvl-enabled]: its ComputeDomain could not be created: may not create computedomains",
    )


def owners(cluster: MemoryCluster) -> set[str]:
    kinds = (("resource.nvidia.com", "ComputeDomain"), ("resource.k8s.io", "ResourceClaim"))
    return {owner["kind"] for group, kind in kinds for one in cluster.store.of(group, kind) for owner in one["metadata"]["ownerReferences"]}


@pytest.mark.parametrize("gang_first", [True, False], ids=["the gang first", "the domain first"])
def test_domains_go_to_their_gang_whichever_comes_first(program: Program, gang_first: bool) -> None:
    cluster = with_grove(MemoryCluster(namespaces=["team"]))
    context, told = StepContext(program, SETTINGS), list[str]()

    async def make() -> None:
        await DomainWebhooks(cluster, ObjectList).podclique(read_request(asked("CREATE", podclique("demo-0-a"))), Reviewer(context))

    async def play() -> set[str]:
        running = asyncio.create_task(DomainAdoption(cluster, lambda: context, told.append).run())
        await asyncio.sleep(1)
        for step in (True, False):
            if step is gang_first:
                cluster.seed(GANG)
            else:
                await make()
            await asyncio.sleep(5)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return owners(cluster)

    assert run_virtual(play()) == {"PodGang"}
    [gang] = cluster.store.of("scheduler.grove.io", "PodGang")
    assert (gang["metadata"].get("annotations"), told) == ({"grove.io/mnnvl-resources-adopted": "true"}, [])
