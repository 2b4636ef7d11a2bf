"""What a set adds up from what has changed is what it would add up from scratch, whatever has happened to its objects meanwhile."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.cache.journal import Journals, Selected
from applier.ref import Ref
from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ChangedNames, ObjectList, ObjectReader
from grove_compiler.step import Key, StepContext, StepHold, StepResult, step
from tests.model.sets import clique, group, pcs
from tests.status.world import NOW, Manifest, live_objects_of
from tests.suite.effort import runs

from .world import complete, context

KEY = Key("PodCliqueSet", "default", "demo")
OPERATOR = Settings(pods=True, is_operator=True)
NOT_SCHEDULED = "PodCliqueScheduled", "False"


class Cluster:
    """Objects that change, in a view that takes down which ones did, and beside it one that does not."""

    def __init__(self, objects: list[Manifest]) -> None:
        self.objects = {Ref.of(one): one for one in objects}
        self.journals = Journals()
        self.looked_at = 0

    def put(self, ref: Ref, manifest: Manifest | None) -> None:
        old = self.objects.pop(ref, None)
        if manifest is not None:
            self.objects[ref] = manifest
        self.journals.note(ref, old, manifest)

    @property
    def as_list(self) -> ObjectList:
        return ObjectList(self.objects[ref] for ref in sorted(self.objects))

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        self.looked_at += kind == "PodClique"
        return self.as_list.get(group, kind, namespace, name)

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        return self.as_list.by_owner(group, kind, owner)

    def deleted(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        return self.as_list.deleted(group, kind, owner)

    def deleted_names(self, group: str, kind: str, owner: ObjectRef) -> list[str]:
        return self.as_list.deleted_names(group, kind, owner)

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        found = self.as_list.by_label(group, kind, key, value, namespace)
        self.looked_at += len(found) * (kind == "PodClique")
        return found

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> ChangedNames | None:
        mark, refs = self.journals.read(Selected(group, kind, key, value, namespace), since)
        return ChangedNames(mark, None if refs is None else [ref.name for ref in refs])


def taken(view: ObjectReader, memory: StepContext) -> StepResult:
    return complete(step(view, KEY, NOW, memory))


def said(outcome: StepResult) -> dict[str, Any]:
    """All of a step, to be compared."""
    nodes = [(one.id, repr(one.object)) for one in outcome.graph.nodes]
    results = [*outcome.statuses, *outcome.conditions, *outcome.events, *outcome.deletions]
    return {"nodes": nodes, "results": sorted(map(repr, results)), "again": outcome.requeue_at}


def the_set(replicas: int = 3, image: str = "busybox", **more: Any) -> Manifest:
    shared = [{"name": "ext", "scope": "AllReplicas"}]
    spec = {"containers": [{"name": "main", "image": image}]}
    cliques = [clique("a", 2, 1, podSpec=spec, resourceSharing=shared), clique("b", 1)]
    return pcs(cliques, [group("g", ["b"], 2)], replicas, terminationDelay="30s", metadata={"uid": "uid-set", "generation": 1}, **more)


def assert_nothing_is_lost(cluster: Cluster, kept: StepContext) -> None:
    """What a step says that remembers is what one says that does not, and neither sees what the other has seen."""
    assert said(taken(cluster, kept)) == said(taken(cluster.as_list, context(OPERATOR)))


HASH = "grove.io/pod-template-hash"
TIMES = st.sampled_from(["2027-01-15T07:00:00Z", "2027-01-15T07:59:00Z", "2027-01-15T07:59:50Z"])
CONDITIONS = st.lists(
    st.builds(
        lambda name, status, time: {"type": name, "status": status, "lastTransitionTime": time},
        st.sampled_from(["MinAvailableBreached", "PodCliqueScheduled", "ResourceClaimTemplatesUnavailable"]),
        st.sampled_from(["True", "False", "Unknown"]),
        TIMES,
    ),
    max_size=3,
    unique_by=lambda one: one["type"],
)
COUNTS = ("readyReplicas", "updatedReplicas", "scheduledReplicas", "availableReplicas")


@st.composite
def statuses(draw: st.DrawFn, pod_hash: str, generation_hash: str) -> Manifest:
    """What a PodClique or a scaling group may report."""
    found: Manifest = {name: draw(st.integers(0, 2)) for name in COUNTS}
    found["conditions"] = draw(CONDITIONS)
    found |= draw(st.sampled_from([{}, {"currentPodTemplateHash": pod_hash}, {"currentPodTemplateHash": "old"}]))
    told = "currentPodCliqueSetGenerationHash"
    return found | draw(st.sampled_from([{}, {"updateProgress": {}}, {told: generation_hash}, {told: "old"}]))


def changed(data: st.DataObject, live: Manifest, hashes: tuple[str, str]) -> Manifest | None:
    """The object after something has happened to it; none when it is gone."""
    metadata, label = live["metadata"], data.draw(st.sampled_from(["app.kubernetes.io/part-of", HASH]))
    match data.draw(st.sampled_from(["status", "status", "status", "label", "owner", "leaves", "gone"])):
        case "status":
            return {**live, "status": data.draw(statuses(*hashes))}
        case "label":
            return {**live, "metadata": {**metadata, "labels": {**metadata["labels"], label: data.draw(st.sampled_from(["demo", "old"]))}}}
        case "owner":
            owner = {**metadata["ownerReferences"][0], "uid": data.draw(st.sampled_from(["uid-set", "uid-older"]))}
            return {**live, "metadata": {**metadata, "ownerReferences": [owner]}}
        case "leaves":
            return {**live, "metadata": {**metadata, "deletionTimestamp": "2027-01-15T07:59:59Z"}}
    return None


@settings(max_examples=runs(150), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_whatever_happens_to_the_objects_of_a_set(data: st.DataObject) -> None:
    kept = context(OPERATOR)
    first = live_objects_of(the_set(), {"demo-0-a": ["ready"], "demo-1-a": ["crashed", "ready"], "demo-2-a": ["waiting"]}, {}, kept)
    cluster = Cluster(first)
    parts = [Ref.of(one) for one in first if one["kind"] in ("PodClique", "PodCliqueScalingGroup")]
    outcome = taken(cluster, kept)
    [pod_hash] = {one["metadata"]["labels"][HASH] for one in first if one["metadata"]["name"] == "demo-0-a"}
    hashes = pod_hash, outcome.generation_hash
    for _ in range(data.draw(st.integers(1, 6))):
        for ref in data.draw(st.lists(st.sampled_from(parts), min_size=1, max_size=4)):
            born = next(one for one in first if Ref.of(one) == ref)
            cluster.put(ref, changed(data, cluster.objects.get(ref) or born, hashes))
        assert_nothing_is_lost(cluster, kept)


@settings(max_examples=runs(30))
@given(st.lists(st.sampled_from(["scale", "edit", "decide", "report"]), min_size=1, max_size=6))
def test_whatever_happens_to_the_set_itself(happens: list[str]) -> None:
    kept = context(OPERATOR)
    cluster = Cluster(live_objects_of(the_set(), {"demo-0-a": ["ready"]}, {}, kept))
    [set] = [ref for ref in cluster.objects if ref.kind == "PodCliqueSet"]
    for number, one in enumerate(happens, 3):
        live = cluster.objects[set]
        edited = {**live, "metadata": {**live["metadata"], "generation": number}}
        match one:
            case "scale":
                cluster.put(set, {**edited, "spec": {**live["spec"], "replicas": number % 4}})
            case "edit":
                template = the_set(image=f"busybox:{number % 3}")["spec"]["template"]
                cluster.put(set, {**edited, "spec": {**live["spec"], "template": template}})
            case "decide":
                outcome = taken(cluster, kept)
                for node in outcome.graph.nodes:
                    stored = {**node.object, "metadata": {**node.object["metadata"], "uid": f"uid-{node.id}"}}
                    cluster.put(Ref.of(stored), stored)
                cluster.put(set, {**live, "status": {key: value for patch in outcome.statuses for key, value in patch.body.items()}})
            case "report":
                ref = next(ref for ref in cluster.objects if ref.kind == "PodClique" and ref.name == "demo-0-a")
                cluster.put(ref, {**cluster.objects[ref], "status": {"readyReplicas": number % 3}})
        assert_nothing_is_lost(cluster, kept)


def test_what_is_remembered_of_one_cluster_counts_for_no_other() -> None:
    """A process that starts anew, and two candidates in a simulation, may share a memory of generations."""
    kept = context(OPERATOR)
    ready = {
        "PodClique demo-0-a": {"readyReplicas": 2},
        "PodClique demo-0-g-0-b": {},
        "PodCliqueScalingGroup demo-0-g": {"availableReplicas": 1},
    }
    one, other = (Cluster(live_objects_of(the_set(1), {}, statuses, kept)) for statuses in ({}, ready))
    for cluster in (one, other, one, other):
        assert_nothing_is_lost(cluster, kept)


def test_a_clique_that_waits_is_its_sets_no_longer_when_it_bears_the_name_of_another() -> None:
    kept = context(OPERATOR)
    waits = {"conditions": [{"type": "ResourceClaimTemplatesUnavailable", "status": "True"}]}
    cluster = Cluster(live_objects_of(the_set(), {}, {"PodClique demo-0-a": waits}, kept))
    told = [one.type for one in taken(cluster, kept).conditions]
    ref = next(ref for ref in cluster.objects if ref.kind == "PodClique" and ref.name == "demo-0-a")
    live = cluster.objects[ref]
    cluster.put(ref, {**live, "metadata": {**live["metadata"], "labels": {"app.kubernetes.io/part-of": "other"}}})
    assert (told, taken(cluster, kept).conditions) == (["ResourceClaimTemplatesUnavailable"], [])
    assert_nothing_is_lost(cluster, kept)


def test_what_is_up_to_date_is_counted_anew_when_a_template_has_another_name() -> None:
    """Another release may have recorded the same templates under hashes of its own; pods have these from then on."""
    kept = context(OPERATOR)
    cluster = Cluster(live_objects_of(the_set(1), {}, {}, kept))
    ref = next(ref for ref in cluster.objects if ref.kind == "PodClique" and ref.name == "demo-0-a")
    live, recorded = cluster.objects[ref], next(ref for ref in cluster.objects if ref.kind == "ControllerRevision")
    revision, theirs = cluster.objects[recorded], {"currentPodTemplateHash": "theirs", "currentPodCliqueSetGenerationHash": "theirs"}
    labels = {**live["metadata"]["labels"], HASH: "theirs"}
    status = {"readyReplicas": 2, "updatedReplicas": 2, **theirs}
    cluster.put(ref, {**live, "metadata": {**live["metadata"], "labels": labels}, "status": status})
    before = taken(cluster, kept).generation_hash
    cliques = [{**one, "hash": "theirs"} for one in revision["data"]["cliques"]]
    renamed = {**revision, "metadata": {**revision["metadata"], "uid": "uid-theirs"}}
    cluster.put(recorded, {**renamed, "data": {**revision["data"], "generationHash": "theirs", "cliques": cliques}})
    assert (before != "theirs", taken(cluster, kept).generation_hash) == (True, "theirs")
    assert_nothing_is_lost(cluster, kept)


def test_a_report_that_makes_no_sense_holds_the_set_until_it_is_mended_and_nothing_is_counted_twice() -> None:
    kept = context(OPERATOR)
    cluster = Cluster(live_objects_of(the_set(), {}, {}, kept))
    taken(cluster, kept)
    one, other = (ref for ref in sorted(cluster.objects) if ref.kind == "PodClique" and ref.name in ("demo-0-a", "demo-1-a"))
    cluster.put(one, {**cluster.objects[one], "status": {"readyReplicas": 2}})
    cluster.put(other, {**cluster.objects[other], "status": {"readyReplicas": "many"}})
    for _ in range(2):
        assert isinstance(step(cluster, KEY, NOW, kept), StepHold)
    cluster.put(other, {**cluster.objects[other], "status": {"readyReplicas": 2}})
    assert_nothing_is_lost(cluster, kept)


def test_a_change_of_one_replica_costs_a_look_at_no_other() -> None:
    kept = context(OPERATOR)
    cluster = Cluster(live_objects_of(the_set(40), {}, {}, kept))
    taken(cluster, kept)
    ref = next(ref for ref in cluster.objects if ref.name == "demo-7-a")
    cluster.put(ref, {**cluster.objects[ref], "status": {"readyReplicas": 2}})
    cluster.looked_at = 0
    taken(cluster, kept)
    assert 0 < cluster.looked_at < 10


def test_nor_where_all_replicas_lack_pods_that_they_never_had() -> None:
    """As when a large set waits for nodes."""
    kept = context(OPERATOR)
    cluster = Cluster(live_objects_of(the_set(40), {}, {}, kept))
    made = "2026-01-01T00:00:00Z"
    lacks = [
        {"type": type, "status": status, "lastTransitionTime": made} for type, status in (("MinAvailableBreached", "True"), NOT_SCHEDULED)
    ]
    for ref in [ref for ref in cluster.objects if ref.kind == "PodClique"]:
        clique = cluster.objects[ref]
        cluster.put(ref, {**clique, "metadata": {**clique["metadata"], "creationTimestamp": made}, "status": {"conditions": lacks}})
    taken(cluster, kept)
    ref = next(ref for ref in cluster.objects if ref.name == "demo-7-a")
    cluster.put(ref, {**cluster.objects[ref], "status": {"readyReplicas": 1, "conditions": lacks}})
    cluster.looked_at = 0
    taken(cluster, kept)
    assert 0 < cluster.looked_at < 10
