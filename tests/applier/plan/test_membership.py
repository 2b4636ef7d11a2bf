"""Of which recorded set an object is a member, and that no apply changes that by the way."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from applier.desired import Desired, Graph, Policy
from applier.errors import Forbidden
from applier.outcome import Conflict, Obstacle, Outcome, Owner
from applier.plan.membership import LABEL, PART_OF, Whose, may_change_applyset, part_of, set_of, staying, whose
from applier.prune import ApplySet, ApplySetOptions, adopt
from applier.ref import Kind, Manifest
from applier.run.difference import diff
from applier.run.live_state import survey
from applier.run.options import ApplyOptions
from applier.run.pipeline import apply
from applier.testing.control_plane import ControlPlane
from applier.testing.memory import MemoryCluster
from applier.transport import connect
from tests.suite.rows import rows

from ..execute.lab import said
from ..free_schemas import FreeSchemas
from ..things import desired, manifest, ref

OURS = "applyset-ours-v1"


APPLIED = {"operation": "Apply", "manager": "grove", "fieldsV1": {"f:metadata": {"f:labels": {f"f:{PART_OF}": {}}}}}
BY_KUBECTL = {**APPLIED, "operation": "Update", "manager": "kubectl-client-side-apply"}
BY_CONTROLLER = {**APPLIED, "operation": "Update", "manager": "kube-controller-manager"}
OTHER_FIELDS = {"operation": "Apply", "manager": "grove", "fieldsV1": {"f:data": {}}}


@rows(
    ("metadata", "member"),
    [
        ({"labels": {PART_OF: OURS}}, True),
        ({"labels": {PART_OF: "other"}}, False),
        ({}, False),
        ({"labels": None}, False),
        ({"labels": {PART_OF: OURS}, "managedFields": [BY_CONTROLLER]}, True),
        ({"labels": {PART_OF: OURS}, "ownerReferences": [{"uid": "1"}], "managedFields": [BY_CONTROLLER]}, True),
        ({"labels": {PART_OF: OURS}, "ownerReferences": [{"uid": "1", "controller": True}], "managedFields": [BY_CONTROLLER]}, False),
        ({"labels": {PART_OF: OURS}, "ownerReferences": [{"uid": "1", "controller": True}], "managedFields": [OTHER_FIELDS]}, False),
        ({"labels": {PART_OF: OURS}, "ownerReferences": [{"uid": "1", "controller": True}], "managedFields": [APPLIED]}, True),
        ({"labels": {PART_OF: OURS}, "ownerReferences": [{"uid": "1", "controller": True}], "managedFields": [BY_KUBECTL]}, True),
    ],
    ids=["ours", "theirs", "none", "null", "by a controller", "owned", "copied", "copied to one we set others of", "applied", "by kubectl"],
)
def test_members_have_the_label_by_somebodys_wish(metadata: Manifest, member: bool) -> None:
    assert (set_of(manifest("a", metadata=metadata)) == OURS) is member


BY_ANOTHER = {**APPLIED, "manager": "helm"}


def owned_by(kind: str, uid: str, api_version: str = "v1", controller: bool = True) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "name": "owner", "uid": uid, "controller": controller}


OWNER = owned_by("Pod", "1")


@rows(
    ("owners", "expected"),
    [
        ([OWNER], None),
        ([{**OWNER, "uid": "2"}], Whose("left by an earlier Pod/shop/owner", Obstacle.EARLIER)),
        ([owned_by("Node", "1")], None),
        ([owned_by("Node", "2")], Whose("of Node/shop/owner", Obstacle.FOREIGN)),
        ([owned_by("Pod", "2", "example.com/v1")], Whose("of Pod.example.com/shop/owner", Obstacle.FOREIGN)),
        ([{**OWNER, "uid": "2", "controller": False}], Whose("created by helm", Obstacle.FOREIGN)),
        ([], Whose("created by helm", Obstacle.FOREIGN)),
    ],
    ids=["ours", "an earlier owner's", "by UID", "another's", "one of another group", "owned, and not controlled", "nobody's"],
)
def test_whose_an_object_is_follows_from_its_controller_and_its_maker(owners: list[Manifest], expected: Whose | None) -> None:
    wanted = manifest("a", metadata={"ownerReferences": [OWNER]})
    live = manifest("a", metadata={"ownerReferences": owners, "managedFields": [{**OTHER_FIELDS, "manager": "helm"}]})
    assert whose(wanted, live, "grove") == expected
    assert whose(wanted, manifest("a", metadata={"managedFields": [OTHER_FIELDS]}), "grove") is None


@rows(
    ("entries", "stays"),
    [
        ([APPLIED], True),
        ([OTHER_FIELDS | {"manager": "helm"}, APPLIED], True),
        ([BY_ANOTHER], False),
        ([OTHER_FIELDS], False),
        ([{**APPLIED, "operation": "Update"}], False),
        ([], False),
        (None, False),
    ],
    ids=["ours", "ours beside others", "another's", "other fields of ours", "an update of ours", "nobody's", "unknown"],
)
def test_a_label_that_we_applied_is_said_again(entries: list[dict[str, Any]] | None, stays: bool) -> None:
    live = manifest("a", metadata={"labels": {PART_OF: OURS}, "managedFields": entries})
    assert (part_of(staying(manifest("a"), live, "grove")) == OURS) is stays


@rows(
    ("owners", "may", "expected"),
    [
        ((), (), False),
        ((), ("a",), False),
        ((), ("*",), True),
        (("a",), ("a",), True),
        (("a", "b"), ("a", "b"), True),
        (("a", "b"), ("a",), False),
        (("a", "b"), ("*",), True),
    ],
)
def test_a_member_may_leave_by_force_against_all_who_own_the_label(owners: tuple[str, ...], may: tuple[str, ...], expected: bool) -> None:
    assert may_change_applyset([Conflict(LABEL, Owner(name, "Apply", "")) for name in owners], may) is expected


def applyset(name: str, namespace: str = "shop") -> ApplySetOptions:
    return ApplySetOptions(ApplySet(Kind("", "v1", "ConfigMap"), namespace, name, "me/1"))


ONE, TWO = applyset("one"), applyset("two")
HELD = "is a member of another ApplySet (ConfigMap/shop/one): move it (force), or leave it there"


async def member(manager: str = "me", **data: str) -> MemoryCluster:
    """A cluster in which `a` is a member of the first set, by this manager's doing."""
    cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    await apply(Graph([desired("a", data=data or {"x": "1"})]), cluster, ApplyOptions(manager, applyset=ONE))
    cluster.forget_requests()
    return cluster


async def run(cluster: Any, *objects: Desired, **options: Any) -> list[Outcome]:
    return (await apply(Graph(objects), cluster, ApplyOptions("me", **options))).outcomes


def label(cluster: MemoryCluster) -> str:
    return str((cluster.find(ref("a")) or {})["metadata"]["labels"].get(PART_OF, ""))


# Another set.


@pytest.mark.parametrize("manager", ["me", "kubectl"])
@pytest.mark.parametrize("data", [{"x": "1"}, {"x": "1", "y": "2"}])
async def test_a_member_of_another_set_is_held_and_left_there(manager: str, data: dict[str, str]) -> None:
    cluster = await member(manager)
    [outcome] = await run(cluster, desired("a", data=data), applyset=TWO)
    assert (outcome.action.value, outcome.reason) == ("held", HELD)
    assert ([request.name for request in cluster.writes()], label(cluster)) == (["two"], ONE.applyset.id)


async def test_all_conflicts_are_told_where_there_are_more_than_the_set() -> None:
    [outcome] = await run(await member("helm"), desired("a", data={"x": "2"}), applyset=TWO)
    assert "data.x" in outcome.reason
    assert PART_OF in outcome.reason


@pytest.mark.parametrize("look", [survey, diff])
async def test_whoever_looks_is_told(look: Any) -> None:
    found = await look(Graph([desired("a", data={"x": "1"})]), await member(), ApplyOptions("me", applyset=TWO))
    [step] = [one.step for one in found] if isinstance(found, list) else found.plan.steps
    assert (step.action.value, step.reason, step.conflicts[0].path, step.conflicts[0].owner.manager) == ("held", HELD, LABEL, "me")


async def test_a_set_whose_record_is_not_found_or_may_not_be_read_has_its_id() -> None:
    cluster = await member()
    cluster.fail("list", Forbidden(403, "Forbidden", "you cannot list configmaps"), times=-1)
    [outcome] = await run(cluster, desired("a", data={"x": "1"}), applyset=TWO)
    assert outcome.reason == HELD.replace("ConfigMap/shop/one", ONE.applyset.id)


async def test_a_copy_of_a_record_is_not_taken_for_it() -> None:
    cluster = await member()
    record = cluster.find(ONE.applyset.parent) or {}
    cluster.seed(manifest("copy", metadata={"labels": record["metadata"]["labels"]}))
    cluster.store.remove(ONE.applyset.parent)
    [outcome] = await run(cluster, desired("a", data={"x": "1"}), applyset=TWO)
    assert ONE.applyset.id in outcome.reason


@pytest.mark.parametrize(("manager", "force"), [("me", ("me",)), ("me", ("*",)), ("kubectl", ("kubectl",)), ("kubectl", ("*",))])
async def test_a_member_of_another_set_is_moved_by_force(manager: str, force: tuple[str, ...]) -> None:
    cluster = await member(manager)
    assert said(await run(cluster, desired("a", data={"x": "1"}), applyset=TWO, force_conflicts=force)) == "a=configured"
    assert label(cluster) == TWO.applyset.id


async def test_force_against_somebody_else_moves_nothing() -> None:
    assert said(await run(await member(), desired("a", data={"x": "1"}), applyset=TWO, force_conflicts=("helm",))) == "a=held"


async def test_a_set_that_a_manifest_names_itself_counts_as_well() -> None:
    wanted = desired("a", data={"x": "1"}, metadata={"labels": {PART_OF: TWO.applyset.id}})
    assert said(await run(await member(), wanted)) == "a=held"


async def test_what_is_only_ever_created_is_no_matter_of_sets() -> None:
    wanted = desired("a", data={"x": "1"}, policy=Policy(create_only=True))
    assert said(await run(await member(), wanted, applyset=TWO)) == "a=unchanged"


async def test_a_copy_of_a_label_is_no_membership() -> None:
    cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    controlled = {"labels": {PART_OF: ONE.applyset.id}, "ownerReferences": [{"uid": "1", "kind": "x", "name": "x", "controller": True}]}
    cluster.seed(manifest("a", metadata=controlled), manager="controller")
    [outcome] = await run(cluster, desired("a", data={"x": "1"}), applyset=TWO)
    assert outcome.reason.startswith('controller (Update at 2026-01-01T00:00:00Z) owns metadata.labels["applyset'), "not another set"


# No set.


async def test_an_apply_that_names_no_set_leaves_members_where_they_are() -> None:
    cluster = await member()
    assert said(await run(cluster, desired("a", data={"x": "2"}))) == "a=configured"
    assert label(cluster) == ONE.applyset.id


async def test_a_member_is_unchanged_for_an_apply_that_names_no_set() -> None:
    cluster = await member()
    assert said(await run(cluster, desired("a", data={"x": "1"}))) == "a=unchanged"
    assert cluster.writes() == []


async def test_a_diff_without_a_set_does_not_show_the_label_as_gone() -> None:
    [found] = await diff(Graph([desired("a", data={"x": "2"})]), await member(), ApplyOptions("me"))
    assert found.merged and found.merged["metadata"]["labels"] == {PART_OF: ONE.applyset.id}


async def test_the_label_of_others_stays_theirs() -> None:
    cluster = await member("kubectl")
    await run(cluster, desired("a", data={"x": "1"}))
    entries = (cluster.find(ref("a")) or {})["metadata"]["managedFields"]
    assert ["f:metadata" in entry["fieldsV1"] for entry in entries if entry["manager"] == "me"] == [False]


async def test_a_member_is_still_pruned_after_an_apply_that_named_no_set() -> None:
    cluster = await member()
    await run(cluster, desired("a", data={"x": "2"}))
    assert said(await run(cluster, applyset=ONE)) == "a=pruned"


@pytest.mark.cluster
async def test_adoption_from_kubectl_and_an_apply_without_a_set_leave_its_members_there(
    control_plane: ControlPlane, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECTL_APPLYSET", "true")
    wanted = manifest("a", namespace=namespace, data={"x": "1"})
    arguments = ["apply", "--server-side", "--prune", "--applyset=one", "-n", namespace, "-f", "-"]
    await asyncio.to_thread(control_plane.kubectl, *arguments, input=json.dumps(wanted))
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        graph = Graph([Desired(wanted)])
        [adopted] = await adopt(graph, cluster, manager="me", managers=("kubectl",))
        assert (adopted.action.value, adopted.step.changes) == ("configured", [])
        changed = Desired({**wanted, "data": {"x": "2"}})
        assert said(await run(cluster, Desired(wanted))) == "a=unchanged"
        assert said(await run(cluster, changed)) == "a=configured"
        assert said(await run(cluster, changed, applyset=applyset("two", namespace))) == "a=held"
    live: Manifest = control_plane.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/a")
    assert set_of(live).startswith("applyset-")
