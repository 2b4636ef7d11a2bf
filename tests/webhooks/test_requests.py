"""What is said of scale subresources and of objects that the operator keeps: from rules, as all else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_operator.install.values import defaults
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.review import NoReview, Reviewer
from tests.webhooks.conftest import Manifest, asked

OPERATOR = "system:serviceaccount:system:grove-operator"
LABELS = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "chat"}


def owned_by(kind: str, name: str, uid: str) -> Manifest:
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "name": name, "uid": uid, "controller": True}


def child(kind: str, name: str, **spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": "team", "labels": LABELS, "ownerReferences": [owned_by("PodCliqueSet", "chat", "u")]}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


CLIQUE = child("PodClique", "chat-0-worker", replicas=2, minAvailable=2)


def a_scale(name: str, replicas: int) -> Manifest:
    spec = {"replicas": replicas} if replicas else {}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name, "namespace": "team"}, "spec": spec}


async def scaled(judge: Reviewer, existing: list[Manifest], resource: str, name: str, new: int, old: int = 2) -> Manifest:
    """The answer to a request for another number of replicas."""
    answers = Answers(lambda: Reviewer(judge.context, ObjectList(existing)))
    more = {"name": name, "resource": {"group": "grove.io", "version": "v1alpha1", "resource": resource}, "subResource": "scale"}
    response: Manifest = (await answers.scale(asked("UPDATE", a_scale(name, new), a_scale(name, old), **more)))["response"]
    return response


@pytest.fixture
def training(workload: Manifest) -> Manifest:
    workload["spec"]["workloadType"] = "Training"
    return workload


async def edited(judge: Reviewer, existing: list[Manifest], old: Manifest, **changes: Any) -> Manifest:
    """The answer to an edit of an object itself: `changes` are fields of its spec, or its `metadata`."""
    metadata = {**old["metadata"], **changes.pop("metadata", {})}
    answers = Answers(lambda: Reviewer(judge.context, ObjectList(existing)))
    resource = {"group": "grove.io", "version": "v1alpha1", "resource": f"{old['kind'].lower()}s"}
    new = {**old, "metadata": metadata, "spec": {**old["spec"], **changes}}
    review = asked("UPDATE", new, old, name=metadata["name"], resource=resource)
    response: Manifest = (await answers.scale(review))["response"]
    return response


def with_group(training: Manifest) -> tuple[Manifest, Manifest]:
    """Adds a scaling group to a set; returns the group, and a PodClique of it."""
    training["spec"]["template"]["podCliqueScalingGroups"] = [{"name": "ranks", "cliqueNames": ["worker"], "replicas": 2}]
    group = child("PodCliqueScalingGroup", "chat-0-ranks", replicas=2, minAvailable=2, cliqueNames=["worker"])
    group["metadata"]["uid"] = "g"
    member = child("PodClique", "chat-0-ranks-1-worker", replicas=2, minAvailable=2)
    member["metadata"]["ownerReferences"] = [owned_by("PodCliqueScalingGroup", "chat-0-ranks", "g")]
    return group, member


@pytest.mark.parametrize("replicas", [0, 1, 3])
async def test_an_edit_of_a_part_of_a_training_workload_does_not_change_its_size(
    replicas: int, judge: Reviewer, training: Manifest
) -> None:
    group, member = with_group(training)
    for edit in (group, member):
        response = await edited(judge, [training, group, member], edit, replicas=replicas)
        assert (response["allowed"], response["status"]["details"]["causes"][0]["field"]) == (False, "spec.replicas")
        assert "of the PodCliqueSet team/chat)" in response["status"]["message"]


async def test_an_edit_that_also_removes_the_labels_is_refused(judge: Reviewer, training: Manifest) -> None:
    bare = {**CLIQUE, "metadata": {**CLIQUE["metadata"], "labels": {}}}
    both = await edited(judge, [training, CLIQUE], CLIQUE, replicas=5, metadata={"labels": {}, "ownerReferences": []})
    later = await edited(judge, [training, bare], bare, replicas=5)
    assert (both["allowed"], later["allowed"]) == (False, False)


async def test_a_wrong_number_keeps_nobody_from_other_edits_and_may_be_put_back(judge: Reviewer, training: Manifest) -> None:
    wrong = child("PodClique", "chat-0-worker", replicas=7, minAvailable=2)
    assert (await edited(judge, [training, wrong], wrong, metadata={"annotations": {"note": "mine"}}))["allowed"]
    assert (await edited(judge, [training, wrong], wrong, replicas=2))["allowed"]
    assert not (await edited(judge, [training, wrong], wrong, replicas=6))["allowed"]


async def test_an_edit_of_a_part_of_a_service_is_judged_like_its_scale(judge: Reviewer, workload: Manifest) -> None:
    assert (await edited(judge, [workload, CLIQUE], CLIQUE, replicas=50))["allowed"]
    response = await edited(judge, [workload, CLIQUE], CLIQUE, replicas=1)
    assert "must not be less than minAvailable (2) of the PodClique chat-0-worker" in response["status"]["message"]


@pytest.mark.parametrize(
    "owner", [owned_by("PodCliqueSet", "chat", "of an earlier set"), {**owned_by("PodCliqueSet", "chat", "u"), "apiVersion": "else/v1"}]
)
async def test_a_part_of_something_else_by_the_name_is_not_judged(owner: Manifest, judge: Reviewer, training: Manifest) -> None:
    other = {**CLIQUE, "metadata": {**CLIQUE["metadata"], "ownerReferences": [owner]}}
    assert (await edited(judge, [training, other], other, replicas=5))["allowed"]


@pytest.mark.parametrize(("resource", "name", "old"), [("podcliques", "chat-0-worker", 2), ("podcliquesets", "chat", 1)])
async def test_a_training_workload_is_not_scaled(resource: str, name: str, old: int, judge: Reviewer, training: Manifest) -> None:
    response = await scaled(judge, [training, CLIQUE], resource, name, 5, old)
    assert (response["allowed"], response["status"]["details"]["causes"][0]["field"]) == (False, "spec.replicas")


async def test_a_service_is_scaled_freely(judge: Reviewer, workload: Manifest) -> None:
    assert (await scaled(judge, [workload, CLIQUE], "podcliques", "chat-0-worker", 50))["allowed"]


async def test_fewer_than_a_gang_needs_are_refused(judge: Reviewer, workload: Manifest) -> None:
    response = await scaled(judge, [workload, CLIQUE], "podcliques", "chat-0-worker", 1)
    assert "must not be less than minAvailable (2) of the PodClique chat-0-worker" in response["status"]["message"]


async def test_who_comes_nearer_to_the_minimum_is_not_kept_from_it(judge: Reviewer, workload: Manifest) -> None:
    few = child("PodClique", "chat-0-worker", replicas=1, minAvailable=4)
    assert (await scaled(judge, [workload, few], "podcliques", "chat-0-worker", 3, old=1))["allowed"]


async def test_a_clique_may_be_scaled_to_nothing(judge: Reviewer, workload: Manifest) -> None:
    assert (await scaled(judge, [workload, CLIQUE], "podcliques", "chat-0-worker", 0))["allowed"]


async def test_a_set_may_have_no_replicas(judge: Reviewer, workload: Manifest) -> None:
    assert (await scaled(judge, [workload], "podcliquesets", "chat", 0, old=1))["allowed"]


async def test_an_object_of_no_set_is_nobodys_to_judge(judge: Reviewer) -> None:
    assert (await scaled(judge, [CLIQUE], "podcliques", "chat-0-worker", 0))["allowed"]


async def test_what_is_no_scale_is_no_review(judge: Reviewer, workload: Manifest) -> None:
    answers = Answers(lambda: Reviewer(judge.context, ObjectList([workload])))
    with pytest.raises(NoReview):
        await answers.scale(asked("UPDATE", workload, workload, resource={"resource": "configmaps"}))


async def authorized(
    judge: Reviewer, existing: list[Manifest], operation: str, manifest: Manifest, user: str = "jane", exempt: list[str] | None = None
) -> Manifest:
    """The answer to a request about an object that the operator keeps."""
    authorizer = {"enabled": True, "exemptServiceAccountUserNames": exempt or []}
    config = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", "authorizer": authorizer}
    context = StepContext(judge.context.program, judge.context.settings, Document(config))
    answers = Answers(lambda: Reviewer(context, ObjectList(existing), operator=OPERATOR))
    new, old = (None if operation == "DELETE" else manifest), (None if operation == "CREATE" else manifest)
    more = {"name": manifest["metadata"]["name"], "userInfo": {"username": user}}
    response: Manifest = (await answers.authorize(asked(operation, new, old, **more)))["response"]
    return response


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE"])
async def test_others_may_not_change_what_the_operator_keeps(operation: str, judge: Reviewer, workload: Manifest) -> None:
    response = await authorized(judge, [workload], operation, CLIQUE)
    assert (response["allowed"], response["status"]["reason"], response["status"]["code"]) == (False, "Forbidden", 403)
    assert f"jane may not {operation.lower()} the PodClique chat-0-worker" in response["status"]["message"]


@pytest.mark.parametrize("user", [OPERATOR, "system:kube-controller-manager"])
async def test_the_operator_and_who_is_exempt_may(user: str, judge: Reviewer, workload: Manifest) -> None:
    response = await authorized(judge, [workload], "UPDATE", CLIQUE, user, ["system:kube-controller-manager"])
    assert response == {"uid": "42", "allowed": True}


@pytest.mark.parametrize(
    ("user", "operation", "kind"),
    [
        ("system:kube-controller-manager", "UPDATE", "Secret"),
        ("system:serviceaccount:kube-system:generic-garbage-collector", "DELETE", "PodClique"),
        ("system:serviceaccount:kai-scheduler:binder", "UPDATE", "Pod"),
    ],
)
async def test_an_installation_exempts_those_without_whom_no_pod_would_run(
    user: str, operation: str, kind: str, judge: Reviewer, workload: Manifest
) -> None:
    """The token of the start-up container, what nobody owns any more, and what a scheduler writes down about a pod."""
    exempt = defaults()["config"]["authorizer"]["exemptServiceAccountUserNames"]
    assert (await authorized(judge, [workload], operation, {**CLIQUE, "kind": kind}, user, exempt))["allowed"]


@pytest.mark.parametrize(("operation", "allowed"), [("DELETE", True), ("UPDATE", False)])
async def test_anybody_may_delete_a_pod_and_nobody_change_it(operation: str, allowed: bool, judge: Reviewer, workload: Manifest) -> None:
    clique = {**CLIQUE, "metadata": {**CLIQUE["metadata"], "uid": "c"}}
    metadata = {"name": "chat-0-worker-x", "namespace": "team", "labels": LABELS}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, "ownerReferences": [owned_by("PodClique", "chat-0-worker", "c")]}}
    assert (await authorized(judge, [workload, clique], operation, pod))["allowed"] is allowed


async def test_a_set_can_lift_its_protection(judge: Reviewer, workload: Manifest) -> None:
    workload["metadata"]["annotations"] = {"grove.io/disable-managed-resource-protection": "true"}
    assert (await authorized(judge, [workload], "UPDATE", CLIQUE))["allowed"]


async def test_of_a_set_that_goes_all_may_go(judge: Reviewer, workload: Manifest) -> None:
    workload["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert (await authorized(judge, [workload], "DELETE", CLIQUE))["allowed"]


async def test_what_is_of_no_set_is_allowed_with_a_warning(judge: Reviewer) -> None:
    response = await authorized(judge, [], "UPDATE", CLIQUE)
    assert (response["allowed"], "there is no PodCliqueSet chat" in response["warnings"][0]) == (True, True)


APPLIED = {"manager": "grove-operator", "operation": "Apply"}


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE"])
@pytest.mark.parametrize(
    ("metadata", "allowed"),
    [
        ({}, True),
        ({"managedFields": [{**APPLIED, "manager": "kubectl"}]}, True),
        ({"managedFields": [APPLIED]}, False),
        ({"ownerReferences": [owned_by("PodCliqueSet", "chat", "of an earlier set")]}, True),
        ({"ownerReferences": [{**owned_by("Release", "front", "r"), "apiVersion": "example.com/v1"}], "managedFields": [APPLIED]}, True),
    ],
    ids=["of nobody", "of somebody", "ours without owner", "of an earlier set", "of another controller"],
)
async def test_what_somebody_else_has_labelled_like_ours_they_may_change_and_delete(
    operation: str, metadata: Manifest, allowed: bool, judge: Reviewer, workload: Manifest
) -> None:
    """A set that waits for its name would wait for good if nobody could delete it, or hand it over."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "chat-0", "namespace": "team", "labels": LABELS, **metadata}}
    response = await authorized(judge, [workload], operation, service)
    assert response["allowed"] is allowed
    if allowed:
        assert "there is no PodCliqueSet chat that owns it" in response["warnings"][0]


async def test_what_names_no_set_is_allowed_with_a_warning(judge: Reviewer) -> None:
    bare = copy.deepcopy(CLIQUE)
    del bare["metadata"]["labels"]
    response = await authorized(judge, [], "UPDATE", bare)
    assert (response["allowed"], "names no PodCliqueSet" in response["warnings"][0]) == (True, True)


async def test_connecting_is_none_of_its_business(judge: Reviewer, workload: Manifest) -> None:
    assert (await authorized(judge, [workload], "CONNECT", CLIQUE))["allowed"]
