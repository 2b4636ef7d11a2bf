"""Pods wait for the templates of the claims that they share, and it is said for which; what was made before stays."""

from __future__ import annotations

from typing import Any

from applier.ref import Ref
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import StepContext, step
from grove_operator.controller.statuses import status_writes
from tests.model.sets import clique, pcs
from tests.step.world import complete, context

from .world import NOW, Manifest, keys_of, live_objects_of, told

EXTERNAL = [{"name": "ext", "scope": "AllReplicas"}]
WORDS = "True ResourceClaimTemplateNotFound: Pods are waiting for the ResourceClaimTemplates default/ext"
TEMPLATE: Manifest = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "ext", "namespace": "default", "uid": "uid-ext"},
    "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}},
}


def shared_context() -> StepContext:
    """That of the operator: whoever compiles files does not know what else is in a cluster."""
    return context(Settings(pods=True, is_operator=True))


def shared_set() -> Manifest:
    """Two cliques, of which the pods of the first share a claim."""
    return pcs([clique("a", 2, resourceSharing=EXTERNAL), clique("b", 2)])


def made(objects: list[Manifest], manifest: Manifest) -> list[str]:
    """What steps want of pods and claims: pods by hostname, claims by name."""
    nodes = [
        node.object for key in keys_of(manifest) for node in complete(step(ObjectList(objects), key, NOW, shared_context())).graph.nodes
    ]
    pods = [one["spec"]["hostname"] for one in nodes if one["kind"] == "Pod"]
    return sorted(pods + [one["metadata"]["name"] for one in nodes if one["kind"] == "ResourceClaim"])


def reported(objects: list[Manifest], manifest: Manifest) -> list[Manifest]:
    """The objects with the statuses that steps say: a set looks only at PodCliques that say so themselves."""
    view = ObjectList(objects)
    made = [complete(step(view, key, NOW, shared_context())) for key in keys_of(manifest)]
    written = {write.of.ref: write.status for each in made for write in status_writes(each.statuses, each.conditions, view, NOW)}
    return [{**one, "status": written.get(Ref.of(one), one.get("status", {}))} for one in objects]


def conditions(objects: list[Manifest], manifest: Manifest) -> dict[str, Any]:
    statuses = told(objects, keys_of(manifest), shared_context())["statuses"]
    found = {name: one["conditions"].get("ResourceClaimTemplatesUnavailable") for name, one in statuses.items()}
    return {name: words for name, words in found.items() if words}


def test_pods_wait_for_the_template_of_a_claim_that_they_share_and_those_without_one_do_not() -> None:
    manifest = shared_set()
    objects = live_objects_of(manifest, {}, {}, shared_context())
    assert made(objects, manifest) == ["demo-0-b-0", "demo-0-b-1"]
    assert conditions(objects, manifest) == {"PodClique demo-0-a": WORDS}
    objects = reported(objects, manifest)
    assert conditions(objects, manifest) == {"PodCliqueSet demo": WORDS, "PodClique demo-0-a": WORDS}
    event = "PodCliqueSet demo Warning ResourceClaimTemplateNotFound: Pods are waiting for the ResourceClaimTemplate default/ext"
    assert told(objects, keys_of(manifest), shared_context())["events"] == [event]


def test_they_are_made_once_it_is_there() -> None:
    manifest = shared_set()
    objects = [*live_objects_of(manifest, {}, {}, shared_context()), TEMPLATE]
    assert made(objects, manifest) == ["demo-0-a-0", "demo-0-a-1", "demo-0-a-all-ext", "demo-0-b-0", "demo-0-b-1"]
    assert conditions(objects, manifest) == {}


def test_what_was_made_from_a_template_stays_when_the_template_goes_and_so_do_its_pods() -> None:
    manifest = shared_set()
    objects = [*live_objects_of(manifest, {}, {}, shared_context()), TEMPLATE]
    nodes = [node for key in keys_of(manifest) for node in complete(step(ObjectList(objects), key, NOW, shared_context())).graph.nodes]
    [claim] = [node.object for node in nodes if node.object["kind"] == "ResourceClaim"]
    claim = {**claim, "metadata": {**claim["metadata"], "uid": "uid-claim"}}
    left = [*objects[:-1], claim]
    assert made(left, manifest) == ["demo-0-a-0", "demo-0-a-1", "demo-0-a-all-ext", "demo-0-b-0", "demo-0-b-1"]
    assert conditions(left, manifest) == {}


def test_a_pod_that_runs_is_kept_though_neither_template_nor_claim_is_there() -> None:
    manifest = shared_set()
    with_template = pcs([clique("a", 2), clique("b", 2)])
    objects = [
        one if one["kind"] != "PodCliqueSet" else {**manifest, "metadata": one["metadata"]}
        for one in live_objects_of(with_template, {"demo-0-a": ["ready"]}, {}, shared_context())
        if one["kind"] != "ControllerRevision"  # so that it is not known that the template was not there from the start
    ]
    assert made(objects, manifest) == ["demo-0-a-0", "demo-0-b-0", "demo-0-b-1"]


def test_pods_that_wait_for_a_template_of_their_own_say_so() -> None:
    """They exist, for Kubernetes makes their claims once it can."""
    spec = {
        "containers": [{"name": "main", "image": "busybox", "resources": {"claims": [{"name": "gpu"}]}}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "ext"}],
    }
    manifest = pcs([clique("a", 1, podSpec=spec)])
    waiting = reported(live_objects_of(manifest, {"demo-0-a": ["waiting"]}, {}, shared_context()), manifest)
    there = {"demo-0-a": ["scheduled"]}
    assert conditions(waiting, manifest) == {"PodCliqueSet demo": WORDS, "PodClique demo-0-a": WORDS}
    assert conditions([*waiting, TEMPLATE], manifest) == {}
    assert conditions(live_objects_of(manifest, there, {}, shared_context()), manifest) == {}
