"""The edits that are tried: whose object, what becomes of it, and how it ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, NamedTuple, TypeVar

from applier.ref import Kind
from grove_compiler.labels import CLIQUE_LABEL, POD_HASH_LABEL
from tests.hostile.nonsense import (
    ACCOUNT,
    AUTOSCALER,
    BINDING,
    MANAGED_BY,
    PART_OF,
    REPLICA,
    ROLE,
    SECRET,
    Change,
    breached,
    counts,
    drop,
    every_label,
    label,
    labels_of,
    owner,
    put,
)
from tests.simulation.world import CLIQUE, GANG, GROUP, POD, REVISION, SERVICE, SET

T = TypeVar("T")
LONG_AGO = "2001-01-01T00:00:00Z"


class Edit(NamedTuple):
    """An edit of an object, which a `kind` and a name (of pods its beginning) tell."""

    kind: Kind
    name: str
    change: Change


FRONT, MEMBER, PARTS = (CLIQUE, "demo-0-front"), (CLIQUE, "demo-0-sg-0-pre"), (GROUP, "demo-0-sg")
BASE, SCALED, RECORD, TOKEN = (GANG, "demo-0"), (GANG, "demo-0-sg-0"), (REVISION, ""), (SECRET, "demo-ic-sat")
WATCHED = {
    "a PodClique": FRONT,
    "a PodClique of a group": MEMBER,
    "a scaling group": PARTS,
    "a gang": BASE,
    "a scaled gang": SCALED,
    "a Service": (SERVICE, "demo-0"),
    "a ServiceAccount": (ACCOUNT, "demo"),
    "a Role": (ROLE, "grove.io:pcs:demo"),
    "a RoleBinding": (BINDING, "grove.io:pcs:demo"),
    "an autoscaler": (AUTOSCALER, "demo-0-front"),
}
WRITTEN_ONCE = {"a pod": (POD, "demo-0-front"), "a pod of a group": (POD, "demo-0-sg-0-pre")}
METADATA: dict[str, Change] = {
    "has lost all labels": drop("metadata.labels"),
    "has lost our label": label(MANAGED_BY, None),
    "has the label of another manager": label(MANAGED_BY, "helm"),
    "has the label of another set": label(PART_OF, "other"),
    "has the label of a set that is not there": label(PART_OF, "nobody"),
    "has garbage in all labels": every_label("garbage"),
    "has the labels of another set's": labels_of("demo", "other"),
    "has the index of a replica that is not declared": label(REPLICA, "7"),
    "has garbage as the index of its replica": label(REPLICA, "-x9"),
    "has no owner": drop("metadata.ownerReferences"),
    "has an owner that does not control it": owner(controller=False),
    "has lost its finalizers": drop("metadata.finalizers"),
    "has somebody's finalizer": put("metadata.finalizers", ["example.com/bills-are-paid"]),
    "has garbage in annotations": put(
        "metadata.annotations",
        {
            "grove.io/deletion-reason": "RollingUpdate",
            "grove.io/accepted-findings": "x\ny z\n",
            "grove.io/default-scheduler": "nobody",
            "grove.io/last-valid-spec": '{"template": 1}',
            "grove.io/x": "",
        },
    ),
}
STATUSES: dict[str, Change] = {
    "has no status": drop("status"),
    "has a text as its status": put("status", "fine"),
    "has a list as its status": put("status", [1]),
    "has a text for conditions": put("status.conditions", "fine"),
    "has texts as conditions": put("status.conditions", ["fine", None, 3]),
    "has conditions without types": put("status.conditions", [{"status": "True"}, {"type": "MinAvailableBreached", "status": "perhaps"}]),
    "is said to be breached since long ago": breached(LONG_AGO),
    "is said to be breached since no time": breached("long ago"),
    "has counts that are too high": counts(99),
    "has counts of zero": counts(0),
    "has counts below zero": counts(-3),
    "has texts for counts": counts("many"),
    "has hashes of nobody": put("status.currentPodCliqueSetGenerationHash", "nobody"),
    "has numbers for hashes": put("status.currentGenerationHash", 7),
    "has seen a generation to come": put("status.observedGeneration", 99),
    "is in an update that never was": put("status.updateProgress", {"updateStartedAt": LONG_AGO, "podCliqueSetGenerationHash": "nobody"}),
    "has a text as the progress of an update": put("status.updateProgress", "running"),
    "has progress of wrong types": put("status.updateProgress", {"updateStartedAt": 7, "currentlyUpdating": "x", "updateEndedAt": []}),
}
NOT_OF_A_SET = (
    "has a text as its status",
    "has a list as its status",
    "has a text for conditions",
    "has conditions without types",
    "is said to be breached since long ago",
    "is said to be breached since no time",
)
"""A set that runs has no conditions: whoever has written one may keep it. That a status is a map, each server sees to."""
WITH_STATUS = {"a PodClique": FRONT, "a PodClique of a group": MEMBER, "a scaling group": PARTS, "the set": (SET, "demo")}
ENTRY = "data.cliques.0"
REVISIONS: dict[str, Change] = {
    "no data": drop("data"),
    "null as data": put("data", None),
    "a text as data": put("data", "x"),
    "a list as data": put("data", [1, 2]),
    "the data of a DaemonSet": put("data", {"spec": {"template": {"$patch": "replace"}}}),
    "no cliques": drop("data.cliques"),
    "garbage for cliques": put("data.cliques", ["x", None, {"name": 7}]),
    "a clique without a hash": drop(f"{ENTRY}.hash"),
    "a clique with a text for a template": put(f"{ENTRY}.template", "x"),
    "a clique with a text for pods": put(f"{ENTRY}.template.podSpec", "x"),
    "a clique with a text for a count": put(f"{ENTRY}.replicas", "x"),
    "no hash": drop("data.generationHash"),
    "a number for a hash": put("data.generationHash", 7),
    "the number zero": put("revision", 0),
    "the highest number that there is": put("revision", 2**63 - 1),
    "a number below zero": put("revision", -4),
    "no number": drop("revision"),
}
"""What a ControllerRevision has."""
SPECS: dict[str, Edit] = {
    "a PodClique that needs fewer pods than none": Edit(*FRONT, put("spec.minAvailable", -1)),
    "a PodClique that needs more pods than it has": Edit(*MEMBER, put("spec.minAvailable", 7)),
    "a PodClique that plays no role": Edit(*FRONT, put("spec.roleName", "")),
    "a PodClique that plays another role": Edit(*MEMBER, put("spec.roleName", "other")),
    "a PodClique with another image": Edit(*FRONT, put("spec.podSpec.containers", [{"name": "main", "image": "other"}])),
    "a PodClique without containers": Edit(*MEMBER, put("spec.podSpec", {})),
    "a PodClique that starts after nobody": Edit(*MEMBER, put("spec.startsAfter", ["nobody"])),
    "a scaling group that needs fewer replicas than none": Edit(*PARTS, put("spec.minAvailable", -1)),
    "a scaling group that needs more than it has": Edit(*PARTS, put("spec.minAvailable", 7)),
    "a scaling group without cliques": Edit(*PARTS, put("spec.cliqueNames", [])),
    "a scaling group of nobody": Edit(*PARTS, put("spec.cliqueNames", ["nobody"])),
    "a scaling group in another order": Edit(*PARTS, put("spec.cliqueNames", ["dec", "pre"])),
    "a gang of nobody": Edit(*BASE, put("spec.podgroups", [])),
    "a gang of others' pods": Edit(*BASE, put("spec.podgroups.0.podReferences", [{"namespace": "kube-system", "name": "dns"}])),
    "a gang that needs too many": Edit(*BASE, put("spec.podgroups.0.minReplicas", 99)),
    "a gang without a spec": Edit(*SCALED, drop("spec")),
    "a Service that selects nobody": Edit(SERVICE, "demo-0", drop("spec.selector")),
    "a Service that selects all of ours": Edit(SERVICE, "demo-0", put("spec.selector", {MANAGED_BY: "grove-operator"})),
    "a Service that hides pods that start": Edit(SERVICE, "demo-0", put("spec.publishNotReadyAddresses", False)),
    "a Role that allows nothing": Edit(ROLE, "grove.io:pcs:demo", put("rules", [])),
    "a Role that allows all": Edit(ROLE, "grove.io:pcs:demo", put("rules", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])),
    "a RoleBinding of nobody": Edit(BINDING, "grove.io:pcs:demo", drop("subjects")),
    "a RoleBinding to another Role": Edit(BINDING, "grove.io:pcs:demo", put("roleRef.name", "admin")),
    "an autoscaler that scales in": Edit(AUTOSCALER, "demo-0-front", put("spec.maxReplicas", 1)),
    "an autoscaler of nobody": Edit(AUTOSCALER, "demo-0-front", put("spec.scaleTargetRef.name", "demo-0-nobody")),
    "an autoscaler without a spec": Edit(AUTOSCALER, "demo-0-front", drop("spec")),
}
FEWER_THAN_NONE = {what: Edit(kind, name, put("spec.replicas", -1)) for what, (kind, name) in list(WATCHED.items())[:3]}
PODS: dict[str, Change] = {
    "has garbage as its index": label("grove.io/podclique-pod-index", "garbage"),
    "has another's index": label("grove.io/podclique-pod-index", "1"),
    "has no index": label("grove.io/podclique-pod-index", None),
    "has garbage as the hash of its template": label(POD_HASH_LABEL, "garbage"),
    "has no hash of its template": label(POD_HASH_LABEL, None),
    "has the label of another clique": label(CLIQUE_LABEL, "demo-0-sg-1-dec"),
    "has no label of a clique": label(CLIQUE_LABEL, None),
    "has the label of another gang": label("grove.io/podgang", "other-0"),
    "is of a group that is not there": label("grove.io/podcliquescalinggroup", "garbage"),
    "costs garbage": put("metadata.annotations", {"controller.kubernetes.io/pod-deletion-cost": "cheap"}),
    "was to be deleted": put("metadata.annotations", {"grove.io/deletion-reason": "GangTermination"}),
}
LEAVES_THE_SET = ("has lost all labels", "has no label of a clique")
"""A pod without the label of its clique is not seen any more, and replaced: so one takes a pod out of a ReplicaSet, to look into it."""
BELONGS_TO_NOBODY = "has no owner"


def _all() -> Iterator[tuple[str, Edit]]:
    for what, (kind, name) in {**WATCHED, **WRITTEN_ONCE}.items():
        for how, change in METADATA.items():
            if kind != POD or how not in (*LEAVES_THE_SET, BELONGS_TO_NOBODY):
                yield f"{what} {how}", Edit(kind, name, change)
    for what, (kind, name) in WITH_STATUS.items():
        for how, change in STATUSES.items():
            if kind != SET or how not in NOT_OF_A_SET:
                yield f"{what} {how}", Edit(kind, name, change)
    for what, (kind, name) in WRITTEN_ONCE.items():
        for how, change in PODS.items():
            if how not in LEAVES_THE_SET:
                yield f"{what} {how}", Edit(kind, name, change)
    for how, change in METADATA.items():
        if "label" in how:
            yield f"a Secret {how}", Edit(*TOKEN, change)
    for how, change in REVISIONS.items():
        yield f"a ControllerRevision has {how}", Edit(*RECORD, change)
    yield from SPECS.items()


def some(rows: Iterable[T], count: int) -> list[T]:
    """So many rows of a table, from all over it, and the same ones each time."""
    shuffled = list(rows)
    Random(13).shuffle(shuffled)
    return shuffled[:count]


FOUND = (
    "a PodClique has the index of a replica that is not declared",
    "a scaling group has garbage as the index of its replica",
    "a ServiceAccount has the index of a replica that is not declared",
    "a pod has garbage as its index",
    "a pod of a group has another's index",
    "a pod has garbage as the hash of its template",
    "a pod of a group has garbage as the hash of its template",
    "a Secret has lost our label",
    "a pod has the label of another set",
    "a pod has the label of another manager",
    "a pod of a group has lost our label",
    "a pod has garbage in all labels",
    "a ControllerRevision has no data",
    "a ControllerRevision has a text as data",
    "a ControllerRevision has no hash",
    "a PodClique has a text as the progress of an update",
    "a PodClique has texts for counts",
    "a PodClique is in an update that never was",
    "a scaling group is in an update that never was",
    "a scaling group is said to be breached since no time",
    "the set has a text as the progress of an update",
    "the set has texts for counts",
    "the set has numbers for hashes",
    "a Role that allows nothing",
    "a RoleBinding of nobody",
)
"""Those that have not healed once: tried each time."""


def heal(count: int) -> dict[str, Edit]:
    """Edits after which all is as before: those that have not healed once, and so many others."""
    edits = dict(_all())
    return {name: edits.pop(name) for name in FOUND} | dict(some(edits.items(), count))


def _foreign(uid: str) -> dict[str, Any]:
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "other", "uid": uid, "controller": True}


def given_away(uid: str) -> dict[str, Edit]:
    """Edits that make an object another set's, the one of a UID: that is told, and left as it is until somebody gives it back."""
    return {f"{what} is given to another set": Edit(kind, name, owner(**_foreign(uid))) for what, (kind, name) in WATCHED.items()} | {
        "a ControllerRevision is given to another set": Edit(*RECORD, owner(**_foreign(uid))),
        "a Secret is given to another set": Edit(*TOKEN, owner(**_foreign(uid))),
    }
