"""People who may read and write the sets of a namespace, and not all that the operator reads: commands do what these may, and say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.cluster import Resource
from applier.errors import Forbidden
from applier.ref import Kind, Manifest
from applier.testing.memory.faults import MemoryRequest

from .in_memory import MINIMAL, Bench

READABLE = ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "PodGang", "Pod")
ACCESS = Resource(Kind("authorization.k8s.io", "v1", "SelfSubjectAccessReview"), "selfsubjectaccessreviews", False)
TOPOLOGY = Resource(Kind("grove.io", "v1alpha1", "ClusterTopology"), "clustertopologies", False)
PENDING = {"type": "WhyPending", "status": "True", "reason": "Unschedulable", "message": "Pod a: no room", "observedGeneration": 1}
UNPLACED = {
    "phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}],
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.serve(TOPOLOGY)
    allow(bench, *READABLE)
    return bench


def allow(bench: Bench, *kinds: str) -> None:
    """From now on only these kinds may be read."""

    def is_forbidden(request: MemoryRequest) -> bool:
        return request.verb in ("get", "list") and request.resource.kind.kind not in kinds

    bench.cluster.faults.clear()
    bench.cluster.fail(is_forbidden, Forbidden(403, "Forbidden", "you may not list that"), times=-1)


def answer_reviews(bench: Bench, monkeypatch: pytest.MonkeyPatch, *, allowed: bool, but_in: str = "") -> None:
    """The server says whether who asks may create PodCliques, which is the opposite in one namespace."""
    create = bench.cluster.create

    async def answered(resource: Resource, manifest: Manifest, **options: Any) -> Manifest:
        if resource != ACCESS:
            return await create(resource, manifest, **options)
        assert manifest["spec"]["resourceAttributes"]["resource"] == "podcliques"
        return {**manifest, "status": {"allowed": allowed is not (manifest["spec"]["resourceAttributes"]["namespace"] == but_in)}}

    bench.cluster.serve(ACCESS)
    monkeypatch.setattr(bench.cluster, "create", answered)


def minimal() -> Manifest:
    made: Manifest = yaml.safe_load(Path(MINIMAL).read_text())
    made["metadata"] |= {"namespace": "default"}
    return made


def edited() -> Manifest:
    made = minimal()
    made["metadata"]["labels"] = {"team": "ml"}
    return made


def led(bench: Bench, *conditions: Manifest) -> None:
    """There is a set about which an operator has reported."""
    set = minimal()
    set["metadata"]["generation"] = 1
    bench.cluster.seed({**set, "status": {"observedGeneration": 1, "conditions": list(conditions)}})
    bench.cluster.forget_requests()


def test_a_set_is_written_and_what_it_depends_on_is_left_to_the_operator(bench: Bench) -> None:
    led(bench)
    done = bench.run("apply", bench.file(edited()))
    assert (done.code, bench.writes()) == (0, ["apply minimal"])
    assert "only the operator checks all of this: you may not read" in done.err
    assert "clustertopologies" in done.err


def test_the_effects_of_an_edit_are_not_known(bench: Bench) -> None:
    led(bench)
    done = bench.run("plan", bench.file(edited()))
    assert (done.code, done.out.splitlines()[-1].partition(":")[0]) == (
        0,
        "effects by the operator (status of PodCliqueSet default/minimal) are not known",
    )


def test_a_topology_that_may_be_there_keeps_nobody_from_an_edit(bench: Bench) -> None:
    led(bench)
    set = minimal()
    set["metadata"]["name"] = "packed"
    set["spec"]["template"] |= {"clusterTopologyName": "h100", "topologyConstraint": {"packDomain": "rack"}}
    done = bench.run("apply", bench.file(set))
    assert (done.code, bench.writes()) == (0, ["apply packed"])
    assert ("warning: " in done.err, "error: " in done.err) == (True, False)


def test_what_is_wrong_in_any_cluster_is_not_written(bench: Bench) -> None:
    led(bench)
    set = minimal()
    set["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 5
    done = bench.run("apply", bench.file(set))
    assert (done.code, bench.writes()) == (1, [])
    assert "error: Invalid value: 5: minAvailable must not be greater than replicas (2)" in done.err


def test_who_may_not_create_what_a_first_set_becomes_leaves_that_to_an_operator_that_they_do_not_see(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_reviews(bench, monkeypatch, allowed=False)
    done = bench.run("apply", bench.file(minimal()))
    assert (done.code, "apply minimal" in bench.writes(), [*bench.cluster.store.of("grove.io", "PodClique", "default")]) == (0, True, [])


@pytest.mark.parametrize("allowed", [False, True])
def test_a_first_set_is_left_to_an_operator_that_is_down_where_what_it_becomes_may_not_be_created(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    bench.cluster.faults.clear()
    bench.cluster.seed({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "grove-operator", "namespace": "default"}})
    answer_reviews(bench, monkeypatch, allowed=allowed)
    done = bench.run("apply", bench.file(minimal()))
    assert (done.code, bool([*bench.cluster.store.of("grove.io", "PodClique", "default")])) == (0, allowed)


def test_sets_of_several_namespaces_are_left_to_the_operator_where_one_of_them_has_to_be(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_reviews(bench, monkeypatch, allowed=True, but_in="shop")
    other = minimal()
    other["metadata"] |= {"namespace": "shop"}
    done = bench.run("apply", bench.file(minimal(), other))
    assert (done.code, {kind for _, kind, *_ in bench.cluster.store.objects if kind == "PodClique"}) == (0, set())
    assert bench.find("PodCliqueSet", "minimal", "shop", "grove.io")


def test_who_may_create_that_and_not_read_it_writes_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    allow(bench, "PodCliqueSet", "ClusterTopology")
    answer_reviews(bench, monkeypatch, allowed=True)
    done = bench.run("apply", bench.file(minimal()))
    assert (done.code, "apply minimal" in bench.writes()) == (2, False)
    assert "you may not list that" in done.err


def test_why_tells_what_the_operator_has_reported(bench: Bench) -> None:
    led(bench, PENDING)
    done = bench.run("why", "minimal")
    assert (done.code, done.out) == (1, "PodCliqueSet minimal\n└─ Unschedulable: Pod a: no room\n")
    assert "waits are told as the operator has reported them: you may not read ClusterTopology" in done.err
    assert bench.run("why", "-l", "!none").out.splitlines()[1].endswith("Unschedulable: Pod a: no room")
    assert json.loads(bench.run("why", "minimal", "-o", "json").out)["waits"][0]["reason"] == "Unschedulable"


def test_before_it_has_reported_anything_the_scheduler_is_heard(bench: Bench) -> None:
    led(bench)
    for name in "ab":
        labels = {"app.kubernetes.io/part-of": "minimal", "grove.io/podclique": "minimal-0-server"}
        metadata = {"name": name, "namespace": "default", "labels": labels}
        bench.cluster.seed({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": []}, "status": UNPLACED})
    told = bench.run("why", "minimal").out.splitlines()
    assert told[1:] == ["└─ PodNotReady: a is not ready (and 1 more like it)", "   └─ Unschedulable: no room"]


def test_a_set_that_is_not_available_is_not_said_to_wait_for_nothing(bench: Bench) -> None:
    led(bench)
    done = bench.run("why", "minimal")
    told = "NotAvailable: 0 of 1 replicas are available, and the operator has not reported why"
    assert (done.code, done.out) == (1, f"PodCliqueSet minimal\n└─ {told}\n")
    [set] = bench.cluster.store.of("grove.io", "PodCliqueSet", "default")
    bench.cluster.seed({**set, "status": {"observedGeneration": 1, "availableReplicas": 1}})
    done = bench.run("why", "minimal")
    assert (done.code, done.out) == (0, "PodCliqueSet minimal waits for nothing\n")


def test_a_part_of_a_set_waits_for_what_its_set_waits_for(bench: Bench) -> None:
    led(bench, PENDING)
    [set] = bench.cluster.store.of("grove.io", "PodCliqueSet", "default")
    owner = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "name": "minimal",
        "uid": set["metadata"]["uid"],
        "controller": True,
    }
    metadata = {
        "name": "minimal-0-server",
        "namespace": "default",
        "ownerReferences": [owner],
        "labels": {"app.kubernetes.io/part-of": "minimal"},
    }
    bench.cluster.seed({"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": {}})
    gated: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, "name": "gated"}, "spec": {"containers": []}}
    gated["metadata"]["labels"] |= {"grove.io/podclique": "minimal-0-server"}
    bench.cluster.seed(gated)
    for part in ("pclq/minimal-0-server", "pod/gated"):
        assert bench.run("why", part).out.splitlines()[1:] == [
            "└─ SetWaits: its set waits",
            "   └─ Unschedulable: Pod a: no room",
        ]
    bench.cluster.seed({**gated, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    assert bench.run("why", "pod/gated").out == "Pod gated waits for nothing\n"


def test_a_description_has_all_that_may_be_read(bench: Bench) -> None:
    led(bench, PENDING)
    done = bench.run("describe", "minimal")
    assert (done.code, "Waits for:\n  └─ Unschedulable: Pod a: no room\n" in done.out) == (0, True)


def test_without_the_right_to_read_sets_one_line_says_so(bench: Bench) -> None:
    allow(bench)
    for command in ("why", "describe"):
        assert bench.run(command, "minimal") == (2, "", "grove: you may not list that\n")


def test_a_tree_names_what_it_may_not_show_in_one_line(bench: Bench) -> None:
    led(bench)
    told = bench.run("get", "tree", "minimal").out.splitlines()
    assert told[0].startswith("PodCliqueSet minimal")
    assert [line.rpartition(": ")[2] for line in told if line.startswith("not read: ")] == ["you may not list these"]


def test_a_set_is_deleted_and_what_may_not_be_read_goes_after_it(bench: Bench) -> None:
    led(bench)
    done = bench.run("delete", "-f", bench.file(minimal()), "--wait=false")
    assert (done.code, done.out, bench.writes()) == (0, "podcliqueset.grove.io/minimal deleted\n", ["delete minimal"])
    assert "which you may not read; what a set owns is deleted after it" in done.err
