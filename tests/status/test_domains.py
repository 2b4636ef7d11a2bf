"""What a set reports of its ComputeDomains."""

from __future__ import annotations

from typing import Any

from grove_operator.cluster.snapshot import DRIVER
from grove_operator.controller.live_objects import NO_DRIVER
from tests.model.sets import clique, pcs
from tests.suite.rows import rows

from .world import Manifest, keys_of, live_objects_of, shared_context, told

GPU = {"name": "box", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": 4}}}
NOT_SERVED = (
    "The cluster does not serve ComputeDomains (resource.nvidia.com) in the version that the operator uses, so pods that need one are not "
    "created; install NVIDIA's DRA driver with support for ComputeDomains. (The version is v1beta1, unless only v1alpha1 was served when "
    "the operator started: where only that is left, restart the operator)"
)


def report(*definitions: Manifest, status: Manifest | None = None, **metadata: Any) -> Manifest:
    """What the set and its replicas say: of two domains, of which the second has a status and metadata."""
    manifest = pcs([clique("a", podSpec={"containers": [GPU]})], replicas=2, computeDomainConfig={"enabled": True})
    shared = shared_context()
    objects = [*live_objects_of(manifest, {"demo-1-a": ["ready"]}, {}, shared), *definitions]
    for one in objects:
        if one["kind"] == "ComputeDomain" and one["metadata"]["name"] == "demo-1-cd":
            one["status"] = status or {}
            one["metadata"] |= metadata
    return told(objects, keys_of(manifest), shared)


def nodes(*states: str) -> list[Manifest]:
    return [{"name": f"node-{number}", "status": state} for number, state in enumerate(states)]


@rows(
    ("status", "metadata", "expected"),
    [
        (None, {}, {"ready": False, "nodes": 0, "readyNodes": 0, "message": "has no nodes yet"}),
        ({"status": "NotReady"}, {}, {"ready": False, "nodes": 0, "readyNodes": 0, "message": "has no nodes yet"}),
        (
            {"status": "NotReady", "nodes": nodes("Ready", "NotReady")},
            {},
            {"ready": False, "nodes": 2, "readyNodes": 1, "message": "has 1 of 2 nodes ready"},
        ),
        ({"status": "Ready", "nodes": nodes("Ready", "Ready")}, {}, {"ready": True, "nodes": 2, "readyNodes": 2}),
        ({"status": "Ready", "nodes": [{"name": "old"}]}, {}, {"ready": True, "nodes": 1, "readyNodes": 1}),
        (
            {"status": "Ready", "nodes": nodes("Ready")},
            {"deletionTimestamp": "2027-01-15T07:00:00Z"},
            {"ready": False, "nodes": 1, "readyNodes": 1, "message": "is being deleted"},
        ),
    ],
    ids=["no status", "no nodes", "a node that is not ready", "ready", "a driver that tells nothing of nodes", "deleted"],
)
def test_each_domain_is_told_with_what_its_driver_says(status: Manifest | None, metadata: Manifest, expected: Manifest) -> None:
    found = report(DRIVER, status=status, **metadata)["statuses"]["PodCliqueSet demo"]["computeDomains"]
    assert [one["name"] for one in found] == ["demo-0-cd", "demo-1-cd"]
    assert found[1] == {"name": "demo-1-cd", "replicaIndex": 1, **expected}


def template(**labels: str) -> Manifest:
    """A template with the name that the driver gives to that of the second domain."""
    metadata = {"name": "demo-1-mnnvl-claim", "namespace": "default", "uid": "uid-of-template", "labels": labels}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": {}}


def test_a_claim_template_of_somebody_else_where_the_driver_would_create_its_own_is_told() -> None:
    foreign = report(DRIVER, template(team="a"))
    (_, domain) = foreign["statuses"]["PodCliqueSet demo"]["computeDomains"]
    assert domain["message"] == "the ResourceClaimTemplate demo-1-mnnvl-claim of its pods is not the driver's"
    (event,) = foreign["events"]
    assert event.startswith("PodCliqueSet demo Warning ForeignResourceClaimTemplate: Pods of the ComputeDomain demo-1-cd refer to")
    assert report(DRIVER, template(team="a"), status={"status": "Ready"})["events"] == []


def test_one_of_the_driver_is_not() -> None:
    uid = "uid-of-domain"
    found = report(DRIVER, template(**{"resource.nvidia.com/computeDomain": uid}), uid=uid)
    assert found["statuses"]["PodCliqueSet demo"]["computeDomains"][1]["message"] == "has no nodes yet"
    assert found["events"] == []


def test_a_cluster_without_the_driver_is_told_of_on_the_set_until_the_driver_is_there() -> None:
    missing = report(NO_DRIVER)
    words = f"True ComputeDomainsNotServed: {NOT_SERVED}"
    assert missing["statuses"]["PodCliqueSet demo"]["conditions"]["ComputeDomainsUnavailable"] == words
    assert missing["events"] == [f"PodCliqueSet demo Warning ComputeDomainsNotServed: {NOT_SERVED}"]
    there = report(DRIVER)
    assert "ComputeDomainsUnavailable" not in there["statuses"]["PodCliqueSet demo"]["conditions"]
    assert there["events"] == []


def test_a_set_without_domains_says_nothing_of_them() -> None:
    manifest = pcs([clique("a")])
    shared = shared_context()
    found = told([*live_objects_of(manifest, {}, {}, shared), NO_DRIVER], keys_of(manifest), shared)
    assert "computeDomains" not in found["statuses"]["PodCliqueSet demo"]
    assert found["events"] == []
