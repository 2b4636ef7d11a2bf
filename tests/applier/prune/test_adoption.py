"""Adoption: fields of others become ours, and nothing else changes; on a cluster in memory and on a real one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from applier.desired import Desired, Graph
from applier.errors import Forbidden, Invalid, WriteConflict
from applier.events import Event, Finished, Planned, RunEnded
from applier.outcome import Action, Outcome
from applier.prune.adoption import adopt, beside_ownership
from applier.ref import Manifest, Ref, resource_version_of, uid_of
from applier.testing.control_plane import ControlPlane
from applier.testing.memory import MemoryCluster
from applier.transport import ApiCluster, connect
from tests.suite.rows import rows

from .sets import config, graph

LAST = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture
def cluster() -> MemoryCluster:
    cluster = MemoryCluster()
    cluster.seed(config("a"), manager="helm")
    return cluster


def found(cluster: MemoryCluster, name: str = "a") -> Manifest:
    live = cluster.find(Ref("", "ConfigMap", "default", name))
    assert live is not None
    return live


def owners(live: Manifest) -> list[tuple[str, str]]:
    return [(entry["manager"], entry["operation"]) for entry in live["metadata"]["managedFields"]]


async def adopted(cluster: MemoryCluster, *manifests: Manifest, **more: Any) -> list[Outcome]:
    return await adopt(graph(*manifests or [config("a")]), cluster, manager="grove", managers=["helm", "kubectl-client-side-apply"], **more)


async def test_the_fields_of_another_become_ours(cluster: MemoryCluster) -> None:
    [outcome] = await adopted(cluster)
    assert (outcome.action, outcome.reason) == (Action.CONFIGURED, "ownership taken over from helm; nothing else changed")
    assert owners(found(cluster)) == [("grove", "Apply")]


async def test_nothing_but_ownership_changes(cluster: MemoryCluster) -> None:
    before = found(cluster)
    await adopted(cluster, {**config("a"), "data": {"a": "another value"}})
    assert beside_ownership(before, found(cluster)) == []


async def test_the_record_of_client_side_apply_goes(cluster: MemoryCluster) -> None:
    cluster.seed(config("b", annotations={LAST: "{}"}), manager="kubectl-client-side-apply")
    await adopted(cluster, config("b"))
    assert LAST not in (found(cluster, "b")["metadata"].get("annotations") or {})


async def test_what_belongs_to_others_stays_theirs(cluster: MemoryCluster) -> None:
    cluster.seed(config("b"), manager="flux")
    [outcome] = await adopted(cluster, config("b"))
    assert (outcome.action, outcome.reason) == (Action.UNCHANGED, "none of its fields belong to helm or kubectl-client-side-apply")
    assert owners(found(cluster, "b")) == [("flux", "Update")]


async def test_our_own_plain_writes_alone_are_no_reason(cluster: MemoryCluster) -> None:
    cluster.seed(config("b"), manager="grove")
    [outcome] = await adopted(cluster, config("b"))
    assert (outcome.action, owners(found(cluster, "b"))) == (Action.UNCHANGED, [("grove", "Update")])


async def test_who_listens_is_told_of_the_plan_of_each_object_and_of_the_end(cluster: MemoryCluster) -> None:
    cluster.seed(config("b"), manager="flux")
    told: list[Event] = []
    outcomes = await adopted(cluster, config("a"), config("b"), config("none"), sink=told.append)
    assert told[0] == Planned({Action.CONFIGURED: 1, Action.UNCHANGED: 2}, 1)
    assert {id(event.outcome) for event in told if isinstance(event, Finished)} == set(map(id, outcomes))
    assert isinstance(told[-1], RunEnded)
    assert told[-1].counts == told[0].counts


async def test_a_change_that_an_apply_would_have_to_force_is_told_too(cluster: MemoryCluster) -> None:
    cluster.seed({**config("a"), "data": {"a": "1", "b": "1"}}, manager="flux")
    [outcome] = await adopted(cluster, {**config("a"), "data": {"a": "1", "b": "2"}})
    assert [(change.path, change.old, change.new) for change in outcome.step.changes] == [(("data", "b"), "1", "2")]


@pytest.mark.parametrize(("times", "refused"), [(1, False), (4, False), (-1, True)])
async def test_who_writes_while_an_apply_is_tried_is_no_change_of_ours(cluster: MemoryCluster, times: int, refused: bool) -> None:
    cluster.fail("apply", WriteConflict(409, "Conflict", "has changed"), times=times)
    [outcome] = await adopted(cluster)
    assert (outcome.action, outcome.step.changes) == (Action.CONFIGURED, [])
    assert outcome.reason.endswith("An apply would be rejected: has changed") is refused


async def test_a_patch_whose_version_has_moved_on_counts_as_a_conflict(cluster: MemoryCluster) -> None:
    cluster.fail("patch", Invalid(422, "Invalid", "the test has failed"))
    assert [outcome.action for outcome in await adopted(cluster)] == [Action.CONFIGURED]
    cluster.seed(config("b"), manager="helm")
    cluster.fail("patch", Invalid(422, "Invalid", "the test has failed"), times=-1)
    [outcome] = await adopted(cluster, config("b"))
    assert (outcome.action, outcome.reason) == (Action.FAILED, "ConfigMap/default/b keeps changing: the test has failed")


async def test_what_is_not_there_is_left_out(cluster: MemoryCluster) -> None:
    [outcome] = await adopted(cluster, config("none"))
    assert (outcome.action, outcome.reason) == (Action.UNCHANGED, "does not exist yet")


async def test_values_of_secrets_are_not_told(cluster: MemoryCluster) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "data": {"key": "b2xk"}}
    cluster.seed(secret, manager="helm")
    [outcome] = await adopted(cluster, {**secret, "data": {"key": "bmV3"}})
    [change] = outcome.step.changes
    assert (change.path, change.old[:7], change.new[:7]) == (("data", "key"), "sha256:", "sha256:")


async def test_an_apply_that_would_be_refused_is_told(cluster: MemoryCluster) -> None:
    cluster.fail("apply", Forbidden(403, "Forbidden", "may not apply"))
    [outcome] = await adopted(cluster)
    assert outcome.action is Action.CONFIGURED
    assert outcome.reason.endswith("nothing else changed. An apply would be rejected: may not apply")


async def test_a_second_adoption_finds_nothing(cluster: MemoryCluster) -> None:
    await adopted(cluster)
    cluster.forget_requests()
    assert [outcome.action for outcome in await adopted(cluster)] == [Action.UNCHANGED]
    assert "patch" not in [request.verb for request in cluster.log]


async def test_it_is_tried_before_it_is_written(cluster: MemoryCluster) -> None:
    await adopted(cluster)
    assert [request.dry_run for request in cluster.log if request.verb == "patch"] == [True, False]


async def test_a_dry_run_writes_nothing(cluster: MemoryCluster) -> None:
    [outcome] = await adopted(cluster, dry_run=True)
    assert outcome.action is Action.CONFIGURED
    assert cluster.writes() == []


async def test_a_webhook_that_changes_more_keeps_it_from_being_written(cluster: MemoryCluster) -> None:
    cluster.admit = lambda manifest: {**manifest, "data": {**manifest["data"], "injected": "yes"}}
    [outcome] = await adopted(cluster)
    assert (outcome.action, outcome.reason) == (
        Action.FAILED,
        "not adopted: the server would also change data.injected; does a webhook interfere?",
    )
    assert cluster.writes() == []


async def test_an_object_that_moves_on_meanwhile_is_looked_at_again(cluster: MemoryCluster) -> None:
    cluster.fail("patch", WriteConflict(409, "Conflict", "has changed"))
    assert [outcome.action for outcome in await adopted(cluster)] == [Action.CONFIGURED]


async def test_an_object_that_moves_on_all_the_time_fails(cluster: MemoryCluster) -> None:
    cluster.fail("patch", WriteConflict(409, "Conflict", "has changed"), times=-1)
    [outcome] = await adopted(cluster)
    assert (outcome.action, outcome.reason, type(outcome.error)) == (Action.FAILED, "has changed", WriteConflict)
    assert (outcome.uid, outcome.step.resource_version) == (uid_of(found(cluster)), resource_version_of(found(cluster)))


async def test_a_refusal_concerns_its_object_only(cluster: MemoryCluster) -> None:
    cluster.seed(config("b"), manager="helm")
    cluster.fail(lambda request: request.verb == "patch" and request.name == "a", Forbidden(403, "Forbidden", "may not"), times=-1)
    assert [outcome.action for outcome in await adopted(cluster, config("a"), config("b"))] == [Action.FAILED, Action.CONFIGURED]


@rows(
    ("before", "after", "paths"),
    [
        (config("a"), config("a"), []),
        (config("a", resourceVersion="1", managedFields=[]), config("a", resourceVersion="2", managedFields=[{}]), []),
        (config("a", annotations={LAST: "{}"}), config("a"), []),
        (config("a", annotations={LAST: "{}", "x": "1"}), config("a", annotations={"x": "2"}), ["metadata.annotations.x"]),
        (config("a", generation=1), config("a", generation=2), []),
        (config("a", labels={"x": "1"}), config("a"), ["metadata.labels"]),
        (config("a"), {**config("a"), "data": {"a": "2", "b": "1"}}, ["data.a", "data.b"]),
        (config("a"), {**config("a"), "data": None}, ["data"]),
    ],
    ids=["same", "ownership", "client side", "annotation", "generation", "labels", "data", "null"],
)
def test_what_differs_beside_ownership_is_named(before: Manifest, after: Manifest, paths: list[str]) -> None:
    assert [".".join(change.path) for change in beside_ownership(before, after)] == paths


DEPLOYMENT: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "example.org/web:1"}]}},
    },
}


@pytest.fixture
async def server(control_plane: ControlPlane) -> AsyncIterator[ApiCluster]:
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as server:
        yield server


@pytest.mark.cluster
@pytest.mark.parametrize("how", ["--server-side=false", "--server-side"])
async def test_no_pod_restarts_when_what_kubectl_applied_is_adopted(
    server: ApiCluster, control_plane: ControlPlane, namespace: str, how: str
) -> None:
    await asyncio.to_thread(control_plane.kubectl, "apply", how, "-n", namespace, "-f", "-", input=json.dumps(DEPLOYMENT))
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/web"
    before = control_plane.request("GET", path)
    wanted = Graph([Desired({**DEPLOYMENT, "metadata": {"name": "web", "namespace": namespace}})])
    [outcome] = await adopt(wanted, server, manager="grove", managers=["kubectl", "kubectl-client-side-apply"])
    after = control_plane.request("GET", path)
    assert (outcome.action, outcome.step.changes) == (Action.CONFIGURED, [])
    assert after["spec"] == before["spec"]
    assert ("grove", "Apply") in owners(after)
    assert not {manager for manager, _ in owners(after)} & {"kubectl", "kubectl-client-side-apply"}


@pytest.mark.cluster
async def test_what_the_next_apply_would_change_is_told(server: ApiCluster, control_plane: ControlPlane, namespace: str) -> None:
    await asyncio.to_thread(control_plane.kubectl, "apply", "--server-side", "-n", namespace, "-f", "-", input=json.dumps(DEPLOYMENT))
    spec = {**DEPLOYMENT["spec"], "replicas": 3}
    wanted = Graph([Desired({**DEPLOYMENT, "metadata": {"name": "web", "namespace": namespace}, "spec": spec})])
    [outcome] = await adopt(wanted, server, manager="grove", managers=["kubectl"])
    assert [(change.path, change.old, change.new) for change in outcome.step.changes] == [(("spec", "replicas"), 1, 3)]
