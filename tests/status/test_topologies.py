"""What topologies report of KAI's Topology and of the sets that use them, and when people are told."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.labels import MANAGED_BY
from grove_compiler.source.document import Document
from grove_compiler.step import Key
from tests.model.sets import clique, pcs

from .world import shared_context, told

Manifest = dict[str, Any]
KEY = Key("ClusterTopologyBinding", "", "lab")
KAI = {"scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]}, "topologyAwareScheduling": {"enabled": True}}
OWNER = [{"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "name": "lab", "uid": "uid-lab", "controller": True}]
DRIFT = "True Drift: One or more scheduler backend topologies have drifted"
IN_SYNC = "False InSync: All scheduler backend topologies are in sync"


def binding(drift: str = "", **spec: Any) -> Manifest:
    """A binding of two levels whose condition has the status `drift` so far."""
    words = {"reason": "Before", "message": "as it was", "lastTransitionTime": "2027-01-15T07:00:00Z"}
    conditions = [{"type": "SchedulerTopologyDrift", "status": drift, **words}] if drift else []
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "ClusterTopologyBinding",
        "metadata": {"name": "lab", "uid": "uid-lab", "generation": 3, "resourceVersion": "7"},
        "spec": {"levels": [{"domain": "rack", "key": "example.com/rack"}, {"domain": "host", "key": "kubernetes.io/hostname"}], **spec},
        "status": {"conditions": conditions},
    }


def kai_topology(*labels: str, name: str = "lab", owners: list[Manifest] | None = None) -> Manifest:
    metadata = {"name": name, "uid": f"uid-kai-{name}", "generation": 5, "ownerReferences": OWNER if owners is None else owners}
    levels = [{"nodeLabel": label} for label in labels or ("example.com/rack", "kubernetes.io/hostname")]
    return {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": metadata, "spec": {"levels": levels}}


def bound(scheduler: str) -> dict[str, Any]:
    return {"schedulerTopologyBindings": [{"schedulerName": scheduler, "topologyReference": "theirs"}]}


def report(*objects: Manifest, config: Manifest = KAI, key: Key = KEY) -> Manifest:
    head = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    return told(list(objects), [key], shared_context(Document({**head, **config})))


@pytest.mark.parametrize(
    ("objects", "entry", "condition"),
    [
        ([binding(), kai_topology()], {"topologyReference": "lab", "inSync": True}, IN_SYNC),
        ([binding()], {"topologyReference": "lab", "inSync": False, "message": 'KAI Topology "lab" not found'}, DRIFT),
        (
            [binding(**bound("kai-scheduler"))],
            {"topologyReference": "theirs", "inSync": False, "message": 'KAI Topology "theirs" not found'},
            DRIFT,
        ),
        (
            [binding(**bound("kai-scheduler")), kai_topology(name="theirs", owners=[])],
            {"topologyReference": "theirs", "inSync": True, "schedulerBackendTopologyObservedGeneration": 5},
            IN_SYNC,
        ),
        (
            [binding(**bound("kai-scheduler")), kai_topology("example.com/rack", name="theirs", owners=[])],
            {
                "topologyReference": "theirs",
                "inSync": False,
                "schedulerBackendTopologyObservedGeneration": 5,
                "message": "KAI Topology levels differ from ClusterTopologyBinding levels",
            },
            DRIFT,
        ),
    ],
    ids=["ours", "ours that is still to be made", "theirs that is missing", "theirs", "theirs with other levels"],
)
def test_a_topology_says_whether_kai_has_the_same_levels(objects: list[Manifest], entry: Manifest, condition: str) -> None:
    status = report(*objects)["statuses"]["ClusterTopologyBinding lab"]
    assert status["observedGeneration"] == 3
    assert status["schedulerTopologyStatuses"] == [{"schedulerName": "kai-scheduler", **entry}]
    assert status["conditions"] == {"SchedulerTopologyDrift": condition}


def test_without_a_scheduler_that_places_by_topology_nothing_drifts() -> None:
    status = report(binding(), config={"topologyAwareScheduling": {"enabled": True}})["statuses"]["ClusterTopologyBinding lab"]
    assert status == {"observedGeneration": 3, "schedulerTopologyStatuses": [], "conditions": {}}


def test_drift_is_told_once_and_so_is_its_end() -> None:
    drifted = kai_topology("example.com/rack", name="theirs", owners=[])
    back = kai_topology(name="theirs", owners=[])
    event = "kai-scheduler uses different levels: KAI Topology levels differ from ClusterTopologyBinding levels"
    assert report(binding("False", **bound("kai-scheduler")), drifted)["events"] == [
        f"ClusterTopologyBinding lab Warning TopologyDriftDetected: {event}"
    ]
    assert report(binding("True", **bound("kai-scheduler")), drifted)["events"] == []
    assert report(binding("True", **bound("kai-scheduler")), back)["events"] == [
        "ClusterTopologyBinding lab Normal TopologyInSync: All scheduler backend topologies are in sync"
    ]
    assert report(binding("False", **bound("kai-scheduler")), back)["events"] == []


def test_a_topology_of_ours_that_is_still_to_be_made_is_no_news() -> None:
    assert report(binding())["events"] == []


def test_whoever_deletes_a_topology_that_sets_refer_to_is_told_which() -> None:
    lab = {**binding(), "kind": "ClusterTopology"}
    del lab["status"]
    lab["metadata"] |= {"deletionTimestamp": "2027-01-15T07:00:00Z", "finalizers": ["grove.io/clustertopology.grove.io"]}
    users = []
    for name in ("chat", "web", *"0123456789"):
        user = pcs([clique("a")], clusterTopologyName="lab", topologyConstraint={"packDomain": "rack"})
        user["metadata"] |= {"name": name, "namespace": "ml", "uid": f"uid-{name}", "generation": 1}
        users.append(user)
    key = KEY._replace(kind="ClusterTopology")
    event = "ClusterTopology lab Warning TopologyInUse: Deletion waits until no PodCliqueSet refers to it: "
    assert report(lab, *users[:2], key=key)["events"] == [f"{event}ml/chat, ml/web"]
    assert report(lab, *users, key=key)["events"] == [f"{event}{', '.join(f'ml/{index}' for index in range(10))} and 2 more"]
    assert report(lab, key=key)["events"] == []


@pytest.mark.parametrize(("outer", "inner", "reports"), [("rack", "host", 0), ("host", "rack", 1), ("host", "host", 0)])
def test_constraints_that_do_not_nest_are_told_although_no_webhook_saw_them(outer: str, inner: str, reports: int) -> None:
    lab = {key: value for key, value in binding().items() if key != "status"} | {"kind": "ClusterTopology"}
    nested = {**clique("a"), "topologyConstraint": {"packDomain": inner}}
    chat = pcs([nested], clusterTopologyName="lab", topologyConstraint={"packDomain": outer})
    chat["metadata"] |= {"name": "chat", "namespace": "ml", "uid": "uid-chat", "generation": 1, "labels": {"kai.scheduler/queue": "team"}}
    events = [event for event in report(lab, chat, key=Key("PodCliqueSet", "ml", "chat"))["events"] if "Hierarchy" in event]
    assert [event.partition(": ")[0] for event in events] == ["PodCliqueSet chat Warning TopologyHierarchyViolated"] * reports


def test_whoever_deletes_the_default_topology_that_sets_refer_to_is_told_which() -> None:
    metadata = {"name": "grove-topology", "deletionTimestamp": "2027-01-15T07:00:00Z", "labels": {MANAGED_BY: "grove-operator"}}
    default = {**binding(), "kind": "ClusterTopology"}
    default["metadata"] |= {**metadata, "finalizers": ["grove.io/clustertopology.grove.io"]}
    user = pcs([clique("a")], topologyConstraint={"packDomain": "rack"})
    user["metadata"] |= {"name": "chat", "namespace": "ml", "uid": "uid-chat", "generation": 1}
    levels = {"topologyAwareScheduling": {"enabled": True, "levels": [{"domain": "rack", "key": "example.com/rack"}]}}
    key = KEY._replace(kind="ClusterTopology", name="grove-topology")
    event = "ClusterTopology grove-topology Warning TopologyInUse: Deletion waits until no PodCliqueSet refers to it: ml/chat"
    assert report(default, user, key=key, config=KAI | levels)["events"] == [event]
    assert report(default, key=key, config=KAI | levels)["events"] == []
