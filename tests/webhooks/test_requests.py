"""What is said of scale subresources and of objects that the operator keeps: from rules, as all else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import Context
from grove_operator.install.values import defaults
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.review import NoReview, Reviewer
from tests.webhooks.conftest import Manifest, asked

OPERATOR = "system:serviceaccount:system:grove-operator"
LABELS = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "chat"}


def child(kind: str, name: str, **spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": "team", "labels": LABELS}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


CLIQUE = child("PodClique", "chat-0-worker", replicas=2, minAvailable=2)


def a_scale(name: str, replicas: int) -> Manifest:
    spec = {"replicas": replicas} if replicas else {}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name, "namespace": "team"}, "spec": spec}


async def scaled(judge: Reviewer, existing: list[Manifest], resource: str, name: str, new: int, old: int = 2) -> Manifest:
    """The answer to a request for another number of replicas."""
    answers = Answers(lambda: Reviewer(judge.context, None, ObjectList(existing)))
    more = {"name": name, "resource": {"group": "grove.io", "version": "v1alpha1", "resource": resource}, "subResource": "scale"}
    response: Manifest = (await answers.scale(asked("UPDATE", a_scale(name, new), a_scale(name, old), **more)))["response"]
    return response


@pytest.fixture
def training(workload: Manifest) -> Manifest:
    workload["spec"]["workloadType"] = "Training"
    return workload


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
    answers = Answers(lambda: Reviewer(judge.context, None, ObjectList([workload])))
    with pytest.raises(NoReview):
        await answers.scale(asked("UPDATE", workload, workload, resource={"resource": "podcliquesets"}))


async def authorized(
    judge: Reviewer, existing: list[Manifest], operation: str, manifest: Manifest, user: str = "jane", exempt: list[str] | None = None
) -> Manifest:
    """The answer to a request about an object that the operator keeps."""
    authorizer = {"enabled": True, "exemptServiceAccountUserNames": exempt or []}
    config = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", "authorizer": authorizer}
    context = Context(judge.context.program, judge.context.settings, Document(config))
    answers = Answers(lambda: Reviewer(context, None, ObjectList(existing), operator=OPERATOR))
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
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "chat-0-worker-x", "namespace": "team", "labels": LABELS}}
    assert (await authorized(judge, [workload], operation, pod))["allowed"] is allowed


async def test_a_set_can_lift_its_protection(judge: Reviewer, workload: Manifest) -> None:
    workload["metadata"]["annotations"] = {"grove.io/disable-managed-resource-protection": "true"}
    assert (await authorized(judge, [workload], "UPDATE", CLIQUE))["allowed"]


async def test_of_a_set_that_goes_all_may_go(judge: Reviewer, workload: Manifest) -> None:
    workload["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert (await authorized(judge, [workload], "DELETE", CLIQUE))["allowed"]


async def test_what_is_of_no_set_is_allowed_with_a_warning(judge: Reviewer) -> None:
    response = await authorized(judge, [], "UPDATE", CLIQUE)
    assert (response["allowed"], "there is no PodCliqueSet chat" in response["warnings"][0]) == (True, True)


async def test_what_names_no_set_is_allowed_with_a_warning(judge: Reviewer) -> None:
    bare = copy.deepcopy(CLIQUE)
    del bare["metadata"]["labels"]
    response = await authorized(judge, [], "UPDATE", bare)
    assert (response["allowed"], "names no PodCliqueSet" in response["warnings"][0]) == (True, True)


async def test_connecting_is_none_of_its_business(judge: Reviewer, workload: Manifest) -> None:
    assert (await authorized(judge, [workload], "CONNECT", CLIQUE))["allowed"]
