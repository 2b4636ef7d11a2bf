"""GREP-270, automatic MNNVL: what it says of names, owners, claims, defaults and validation, statement by statement."""

from __future__ import annotations

from typing import Any

import pytest

from .compiling import findings_of, names_of, objects_of, of_kind, owners_of, result_of
from .pages import FOLDER, Manifest, read_page
from .sets import GPU, clique, group, pcs

PAGE = "grep-270-automatic-mnnvl.md"

# A set with everything that matters: two GPU cliques, one of them in a scaling group, and a clique without GPUs.
CLIQUES = [clique("trainer"), clique("router", gpu=False), clique("worker")]
CONFIG = {"enabled": True}


def made(config: dict[str, Any] | None = None, cliques: list[Manifest] | None = None) -> Manifest:
    return pcs(cliques or CLIQUES, [group("pool", ["worker"])] if cliques is None else None, computeDomainConfig=config or CONFIG)


def pod_spec(name: str) -> Manifest:
    found: Manifest = objects_of(made())["PodClique", name]["spec"]["podSpec"]
    return found


def test_there_is_one_domain_for_each_replica_of_the_set() -> None:
    assert names_of(objects_of(made()), "ComputeDomain") == ["demo-0-cd", "demo-1-cd"]


def test_there_is_one_claim_template_for_each_replica_of_the_set_and_no_claim() -> None:
    objects = objects_of(made())
    assert names_of(objects, "ResourceClaimTemplate") == ["demo-0-mnnvl-claim", "demo-1-mnnvl-claim"]
    assert names_of(objects, "ResourceClaim") == []


def test_a_domain_is_elastic() -> None:
    assert [domain["spec"] for domain in of_kind(objects_of(made()), "ComputeDomain")] == [{"numNodes": 0}] * 2


def test_a_claim_template_selects_its_domain_by_name() -> None:
    expression = 'device.attributes["compute-domain.nvidia.com"].name == "demo-1-cd"'
    assert objects_of(made())["ResourceClaimTemplate", "demo-1-mnnvl-claim"]["spec"] == {
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "mnnvl",
                        "deviceClassName": "compute-domain.nvidia.com",
                        "selectors": [{"cel": {"expression": expression}}],
                    }
                ]
            }
        }
    }


def test_the_api_versions_are_those_of_the_design() -> None:
    objects = objects_of(made())
    found = {kind: objects[kind, name]["apiVersion"] for kind, name in objects if kind in ("ComputeDomain", "ResourceClaimTemplate")}
    assert found == {"ComputeDomain": "resource.nvidia.com/v1alpha1", "ResourceClaimTemplate": "resource.k8s.io/v1beta1"}


def test_the_set_owns_domains_and_claim_templates() -> None:
    objects = objects_of(made())
    owners = [owners_of(manifest) for kind in ("ComputeDomain", "ResourceClaimTemplate") for manifest in of_kind(objects, kind)]
    assert owners == [[("PodCliqueSet", "demo")]] * 4


def test_domains_and_claim_templates_stand_before_the_cliques_that_use_them() -> None:
    kinds = [kind for kind, _ in objects_of(made())]
    assert max(kinds.index("ComputeDomain"), kinds.index("ResourceClaimTemplate")) < kinds.index("PodClique")


@pytest.mark.parametrize(("name", "replica"), [("demo-0-trainer", 0), ("demo-1-trainer", 1), ("demo-1-pool-2-worker", 1)])
def test_a_clique_with_gpus_refers_to_the_template_of_its_replica(name: str, replica: int) -> None:
    spec = pod_spec(name)
    assert spec["resourceClaims"] == [{"name": "mnnvl", "resourceClaimTemplateName": f"demo-{replica}-mnnvl-claim"}]
    assert [container["resources"]["claims"] for container in spec["containers"]] == [[{"name": "mnnvl"}]]


def test_a_clique_without_gpus_refers_to_none() -> None:
    assert "laims" not in str(pod_spec("demo-0-router"))


def test_pods_are_wired_as_their_clique_is() -> None:
    objects = objects_of(made())
    claims = [{"name": "mnnvl", "resourceClaimTemplateName": "demo-0-mnnvl-claim"}]
    wired = [pod for pod in of_kind(objects, "Pod") if pod["spec"].get("resourceClaims") == claims]
    assert {pod["metadata"]["labels"]["grove.io/podclique"] for pod in wired} == {
        "demo-0-trainer",
        "demo-0-pool-0-worker",
        "demo-0-pool-1-worker",
        "demo-0-pool-2-worker",
    }


def test_the_device_class_can_be_chosen() -> None:
    objects = objects_of(made({"enabled": True, "deviceClassName": "fabric.example.com"}))
    requests = [one["spec"]["spec"]["devices"]["requests"][0] for one in of_kind(objects, "ResourceClaimTemplate")]
    assert {request["deviceClassName"] for request in requests} == {"fabric.example.com"}


@pytest.mark.parametrize("config", [{"enabled": False}, {}, {"deviceClassName": "fabric.example.com"}], ids=str)
def test_what_is_not_enabled_makes_nothing(config: dict[str, Any]) -> None:
    objects = [node.object for node in result_of(pcs(CLIQUES, computeDomainConfig=config)).graph.nodes]
    assert {one["kind"] for one in objects}.isdisjoint({"ComputeDomain", "ResourceClaimTemplate"})
    assert "resourceClaims" not in str(objects)


def test_what_is_not_enabled_leaves_claims_of_the_users_own_alone() -> None:
    own = clique("a")
    own["spec"]["podSpec"]["resourceClaims"] = [{"name": "mnnvl", "resourceClaimTemplateName": "by-hand"}]
    spec = objects_of(pcs([own]))["PodClique", "demo-1-a"]["spec"]["podSpec"]
    assert spec["resourceClaims"] == [{"name": "mnnvl", "resourceClaimTemplateName": "by-hand"}]


def test_scaling_down_takes_the_replicas_domain_and_template_away() -> None:
    one = made()
    one["spec"]["replicas"] = 1
    gone = objects_of(made()).keys() - objects_of(one).keys()
    assert {("ComputeDomain", "demo-1-cd"), ("ResourceClaimTemplate", "demo-1-mnnvl-claim")} <= gone


def test_gpus_are_needed() -> None:
    [finding] = findings_of(made(cliques=[clique("router", gpu=False)]))
    assert (finding.code, finding.path) == ("validate/compute-domain-without-gpu", "spec.template.computeDomainConfig.enabled")


def test_no_claim_of_the_users_may_be_called_mnnvl() -> None:
    own = clique("a")
    own["spec"]["podSpec"]["resourceClaims"] = [{"name": "mnnvl", "resourceClaimTemplateName": "by-hand"}]
    [finding] = findings_of(made(cliques=[own]))
    path = "spec.template.cliques[0].spec.podSpec.resourceClaims[0].name"
    assert (finding.code, finding.path) == ("validate/mnnvl-foreign-claim", path)


def test_other_containers_of_a_gpu_pod_do_not_use_the_domain() -> None:
    mixed = clique("a")
    mixed["spec"]["podSpec"]["containers"].append({"name": "metrics", "image": "busybox"})
    mixed["spec"]["podSpec"]["initContainers"] = [
        {"name": "warm-up", "image": "busybox", "resources": {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}},
        {"name": "fetch", "image": "busybox"},
        {"name": "fabric-agent", "image": "busybox", "restartPolicy": "Always", "resources": GPU},
    ]
    spec = objects_of(made(cliques=[mixed]))["PodClique", "demo-0-a"]["spec"]["podSpec"]
    users = [one["name"] for one in [*spec["containers"], *spec["initContainers"]] if one.get("resources", {}).get("claims")]
    assert users == ["main", "warm-up", "fabric-agent"]


@pytest.mark.skipif(not (FOLDER / PAGE).exists(), reason="the design is not here: GROVE_SEEDS names its folder")
def test_the_design_prints_no_object_and_no_table() -> None:
    assert [found for section in read_page(PAGE) for found in [*section.manifests, *section.rows]] == []
