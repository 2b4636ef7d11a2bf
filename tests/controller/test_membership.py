"""Which key an object belongs to, and what a key may delete."""

from __future__ import annotations

from typing import Any

import pytest

from applier.loop import View
from applier.ref import Manifest, Ref
from grove_compiler.step import Key
from grove_operator.controller.membership import Keys, MemberIndex, key_of, state_of
from grove_operator.controller.ownership import is_of_set
from tests.simulation.sets import NAME
from tests.simulation.simulation import running
from tests.simulation.world import SET as SETS
from tests.suite.rows import rows

SET = Key("PodCliqueSet", "ml", "chat")
OURS = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "chat"}


def thing(kind: str, name: str, labels: dict[str, str] | None = None, owner: tuple[str, str] | None = None) -> Manifest:
    metadata: dict[str, Any] = {"name": name, "namespace": "ml", "labels": OURS if labels is None else labels}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner[0], "name": owner[1], "controller": True}]
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


class FewObjects:
    """A view over a handful of objects."""

    def __init__(self) -> None:
        self.objects: dict[Ref, Manifest] = {}
        self.woken: list[Key] = []
        self.membership = MemberIndex(self.woken.append)
        self.keys = Keys(self.membership, with_topologies=True)

    def put(self, manifest: Manifest) -> list[Key]:
        ref = Ref.of(manifest)
        old = self.objects.get(ref)
        self.objects[ref] = manifest
        return list(self.keys(ref, old, manifest))

    def remove(self, manifest: Manifest) -> list[Key]:
        return list(self.keys(Ref.of(manifest), self.objects.pop(Ref.of(manifest)), None))

    def get(self, ref: Ref) -> Manifest | None:
        return self.objects.get(ref)

    def members(self, key: Key, replicas: int = 0) -> list[str]:
        return [one["metadata"]["name"] for one in self.membership.of(self, key, replicas)]  # type: ignore[arg-type]


@rows(
    ("manifest", "replica"),
    [
        (thing("Pod", "chat-0-router-x", {**OURS, "grove.io/podcliqueset-replica-index": "3"}), 0),
        (thing("Pod", "chat-0-router-x", {**OURS, "grove.io/podcliqueset-replica-index": "garbage"}), 0),
        (thing("ResourceClaim", "gpus", {**OURS, "grove.io/podcliqueset-replica-index": "3"}), 3),
        (thing("ResourceClaim", "gpus", {**OURS, "grove.io/podcliqueset-replica-index": "garbage"}), None),
        (thing("PodGang", "chat-12-model-0"), 12),
        (thing("PodGang", "chat-12"), 12),
        (thing("ServiceAccount", "chat"), None),
        (thing("ResourceClaim", "chat-all-gpu"), None),
        (thing("ConfigMap", "chat-1-settings", {}, ("PodCliqueSet", "chat")), 1),
        (thing("ConfigMap", "settings", {}, ("PodCliqueSet", "chat")), None),
    ],
)
def test_an_object_belongs_to_the_replica_that_its_name_or_else_its_label_says(manifest: Manifest, replica: int | None) -> None:
    assert key_of(Ref.of(manifest), manifest) == SET._replace(replica=replica)


@pytest.mark.parametrize("manifest", [thing("Pod", "chat-0", {}), thing("Event", "chat-0"), thing("Pod", "x", {}, ("ReplicaSet", "chat"))])
def test_what_is_not_ours_belongs_to_no_key(manifest: Manifest) -> None:
    assert key_of(Ref.of(manifest), manifest) is None


def test_an_object_with_another_label_stays_with_the_key_that_desires_it() -> None:
    """Nothing is deleted for a label (decisions §8), whoever looks first: the operator from before the edit, or a new one."""
    for is_seen_before in (True, False):
        world, role, replica = FewObjects(), thing("Role", "chat"), SET._replace(replica=3)
        if is_seen_before:
            world.put(role)
        relabelled = thing("Role", "chat", {**OURS, "grove.io/podcliqueset-replica-index": "3"})
        world.put(relabelled)
        if not is_seen_before:
            world.membership.claim(SET, [(Ref.of(role), role)])
        world.membership.claim(SET, [])
        world.membership.claim(replica, [])
        assert world.members(replica, 1) == []
        world.membership.claim(replica, [(Ref.of(role), relabelled)])
        assert world.members(replica, 1) == ["chat"], "a rule of the replica wants it now"


def test_a_key_has_its_own_objects_and_those_that_are_gone_no_longer() -> None:
    world, gang, other = FewObjects(), thing("PodGang", "chat-1"), thing("PodGang", "chat-2")
    assert world.put(gang) == [SET._replace(replica=1)]
    world.put(other)
    assert world.members(SET._replace(replica=1)) == ["chat-1"]
    assert world.remove(gang) == [SET._replace(replica=1)]
    assert world.members(SET._replace(replica=1)) == []


def test_an_object_whose_label_is_changed_wakes_both_keys() -> None:
    world = FewObjects()
    world.put(thing("Pod", "p", {**OURS, "grove.io/podcliqueset-replica-index": "0"}))
    woken = world.put(thing("Pod", "p", {**OURS, "grove.io/podcliqueset-replica-index": "1"}))
    assert woken == [SET._replace(replica=0), SET._replace(replica=1)]


def test_a_set_deletes_nothing_before_its_replicas_have_said_what_they_want() -> None:
    world, stray = FewObjects(), thing("ConfigMap", "settings", {}, ("PodCliqueSet", "chat"))
    world.put(stray)
    assert world.members(SET, replicas=1) == []
    world.membership.claim(SET._replace(replica=0), [])
    assert world.members(SET, replicas=1) == ["settings"]


def test_what_a_replica_wants_is_not_the_sets_whatever_its_name() -> None:
    world, stray = FewObjects(), thing("ConfigMap", "settings", {}, ("PodCliqueSet", "chat"))
    world.put(stray)
    world.membership.claim(SET._replace(replica=0), [(Ref.of(stray), stray)])
    assert world.members(SET, replicas=1) == []


def test_what_a_set_wants_is_not_a_replicas_whatever_its_label() -> None:
    """A claim that one replica of the set shares is the set's: who deleted it would take devices from pods that run."""
    world, claim = FewObjects(), thing("ResourceClaim", "chat-1-gpu", {**OURS, "grove.io/podcliqueset-replica-index": "1"})
    replica = SET._replace(replica=1)
    world.put(claim)
    assert world.members(replica, replicas=2) == [], "before the set has said what it wants"
    assert world.woken == []
    world.membership.claim(SET, [(Ref.of(claim), claim)])
    assert world.woken == [replica]
    assert world.members(replica, replicas=2) == []


@pytest.mark.parametrize("wanter", [SET, SET._replace(replica=0)])
def test_what_somebody_has_asked_for_is_theirs_to_delete_when_they_want_it_no_more(wanter: Key) -> None:
    foreign = {None: "1", 0: "7"}[wanter.replica]
    world, claim = FewObjects(), thing("ResourceClaim", "chat-1-gpu", {**OURS, "grove.io/podcliqueset-replica-index": foreign})
    for key in (SET, SET._replace(replica=0)):
        world.membership.claim(key, [(Ref.of(claim), claim)] if key == wanter else [])
    world.put(claim)
    world.membership.claim(wanter, [])
    assert world.members(wanter, replicas=1) == ["chat-1-gpu"]
    world.remove(claim)
    assert world.members(wanter, replicas=1) == []


def declared(count: int, generation: int = 1, **status: Any) -> Manifest:
    metadata = {"name": "chat", "namespace": "ml", "uid": "u", "generation": generation}
    set = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata}
    return {**set, "spec": {"replicas": count}, "status": status}


def test_a_set_that_is_declared_anew_wakes_all_replicas_that_it_has_or_had_those_that_go_first() -> None:
    world = FewObjects()
    assert world.put(declared(2)) == [SET, SET._replace(replica=0), SET._replace(replica=1)]
    assert world.put(declared(1, generation=2)) == [SET, SET._replace(replica=1), SET._replace(replica=0)]


def test_what_a_set_counts_wakes_no_replica() -> None:
    world = FewObjects()
    world.put(declared(2))
    assert world.put(declared(2, availableReplicas=1)) == [SET]


@pytest.mark.parametrize(
    "status", [{"updateProgress": {"currentlyUpdating": [{"replicaIndex": 1}]}}, {"suspendTime": "2026-11-30T22:00:00Z"}], ids=" ".join
)
def test_a_set_that_decides_for_its_replicas_wakes_them(status: Manifest) -> None:
    world = FewObjects()
    world.put(declared(2))
    assert len(world.put(declared(2, **status))) == 3
    assert len(world.put(declared(2))) == 3


def indices(keys: list[Key]) -> list[int]:
    return [key.replica for key in keys if key.replica is not None]


def test_a_set_wakes_the_replicas_that_it_still_runs_though_it_no_longer_declares_them() -> None:
    world = FewObjects()
    world.put(declared(3, replicas=3))
    assert indices(world.put(declared(1, generation=2, replicas=3))) == [1, 2, 0]
    assert indices(world.put(declared(1, generation=2, replicas=3, currentGenerationHash="new"))) == [1, 2, 0]
    assert indices(world.put(declared(1, generation=2, replicas=3, currentGenerationHash="new", availableReplicas=1))) == []


def test_replicas_that_a_set_counts_no_longer_are_woken_unless_it_declares_them() -> None:
    world = FewObjects()
    world.put(declared(1, replicas=3))
    assert indices(world.put(declared(1, replicas=0))) == [1, 2]


@pytest.mark.parametrize("group", ["example.com", "grove.io"])
def test_an_owner_of_another_group_that_has_the_name_of_one_of_our_kinds_leads_nowhere(group: str) -> None:
    """Nobody watches it: to ask for it would hold whoever looks for the members of a replica."""
    simulation = running()
    owner = {"apiVersion": f"{group}/v1", "kind": "PodGang", "name": "theirs", "uid": "theirs", "controller": True}
    theirs = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "theirs", "namespace": "default", "ownerReferences": [owner]}}
    assert not is_of_set(View(simulation.operator.process.cache), theirs, simulation.world.get(SETS, NAME))


def pod(ready: bool = False, **container: Any) -> Manifest:
    conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": str(container.get("restartCount"))}]
    status = {"phase": "Running", "conditions": conditions, "containerStatuses": [{"name": "main", "ready": ready, **container}]}
    return {**thing("Pod", "one"), "spec": {"nodeName": "node"}, "status": status}


CRASHED: dict[str, Any] = {"restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
OTHERS: dict[str, tuple[Manifest, bool]] = {
    "a restart": (pod(restartCount=2, started=True, state={"running": {}}), True),
    "a time": ({**pod(**CRASHED), "metadata": {**pod()["metadata"], "resourceVersion": "2", "annotations": {"beat": "1"}}}, True),
    "ready": (pod(ready=True, **CRASHED), False),
    "has never run": (pod(), False),
    "ended": ({**pod(**CRASHED), "status": {**pod(**CRASHED)["status"], "phase": "Failed"}}, False),
    "goes": ({**pod(**CRASHED), "metadata": {**pod()["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}, False),
    "labels": ({**pod(**CRASHED), "metadata": {**pod()["metadata"], "labels": {}}}, False),
    "node": ({**pod(**CRASHED), "spec": {}}, False),
}


@rows(("other", "is_same"), list(OTHERS.values()), ids=list(OTHERS))
def test_the_state_of_a_pod_is_what_decides_whether_it_is_replaced(other: Manifest, is_same: bool) -> None:
    assert (state_of(pod(**CRASHED)) == state_of(other)) == is_same
