"""Sets that an operator of Grove leads: the set is written and compared, and what it becomes is the operator's."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from applier.cluster import Resource
from applier.ref import Kind, Manifest

from .in_memory import MINIMAL, Bench

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "grove-operator", "namespace": "default"},
    "status": {"readyReplicas": 1},
}


def lease(age: timedelta) -> Manifest:
    renewed = (datetime.now(UTC) - age).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "host_1", "leaseDurationSeconds": 15, "renewTime": renewed}
    metadata = {"name": "grove-operator-leader-election", "namespace": "default"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.serve(Resource(Kind("coordination.k8s.io", "v1", "Lease"), "leases", True))
    return bench


def minimal(replicas: int = 1) -> Manifest:
    with open(MINIMAL) as stream:
        made: Manifest = yaml.safe_load(stream)
    made["spec"]["replicas"] = replicas
    return made


def operated(bench: Bench) -> None:
    """An operator has made what the set becomes."""
    assert bench.run("apply", MINIMAL).code == 0
    bench.cluster.seed({**copy.deepcopy(bench.find("PodCliqueSet", "minimal", "default", "grove.io")), "status": {"observedGeneration": 1}})
    bench.writes()


def test_what_the_operator_would_make_of_a_set_that_is_not_written_is_not_told(bench: Bench) -> None:
    operated(bench)
    done = bench.run("apply", bench.file(minimal(2)), "--field-manager", "people")
    assert (done.code, "owns spec.replicas" in done.err, "generates from this" in done.err) == (2, True, False)


@pytest.mark.parametrize(
    ("what", "is_led"),
    [
        (lambda: DEPLOYMENT, True),
        (lambda: lease(timedelta(0)), True),
        (lambda: lease(timedelta(minutes=5)), False),
        (lambda: {**DEPLOYMENT, "status": {}}, False),
    ],
    ids=["its Deployment", "its Lease", "an old Lease", "a Deployment without pods"],
)
def test_where_an_operator_is_at_work_only_the_set_is_applied(bench: Bench, what: Callable[[], Manifest], is_led: bool) -> None:
    bench.cluster.seed(what())
    done = bench.run("apply", MINIMAL)
    assert done.code == 0, done.err
    assert (bench.writes() == ["apply minimal"]) is is_led


def test_a_set_with_a_status_is_led_wherever_its_operator_runs(bench: Bench) -> None:
    operated(bench)
    done = bench.run("apply", bench.file(minimal(2)))
    assert (done.code, bench.writes()) == (0, ["apply minimal"])
    assert done.out == "podcliqueset.grove.io/minimal configured\n"
    assert "the operator (status of PodCliqueSet default/minimal) generates from this: " in done.err
    assert " created" in done.err


def test_with_children_all_is_applied(bench: Bench) -> None:
    bench.cluster.seed(DEPLOYMENT)
    assert bench.run("apply", MINIMAL, "--children").code == 0
    assert len(bench.writes()) > 1


def test_a_plan_lists_what_the_operator_makes_of_an_edit(bench: Bench) -> None:
    operated(bench)
    done = bench.run("plan", bench.file(minimal(2)))
    planned, _, effects = done.out.partition("effects by the operator (status of PodCliqueSet default/minimal)")
    assert (done.code, "configured  PodCliqueSet.grove.io/default/minimal" in planned, "PodClique." in planned) == (0, True, False)
    assert "created     PodClique.grove.io/default/minimal-1-server" in effects
    assert "minimal-0" not in effects


def test_of_a_first_set_all_that_it_becomes_is_an_effect(bench: Bench) -> None:
    bench.cluster.seed(DEPLOYMENT)
    _, _, effects = bench.run("plan", MINIMAL).out.partition("effects by the operator (Deployment default/grove-operator)")
    assert "created     PodClique.grove.io/default/minimal-0-server" in effects


def test_a_diff_compares_the_set_alone_and_lists_the_effects(bench: Bench) -> None:
    operated(bench)
    assert bench.run("diff", MINIMAL).code == 0
    done = bench.run("diff", bench.file(minimal(0)))
    shown, _, effects = done.out.partition("effects by the operator")
    assert (done.code, "1 object differs" in shown) == (1, True)
    assert "pruned" in effects


def test_what_nobody_edits_has_no_effects(bench: Bench) -> None:
    operated(bench)
    done = bench.run("apply", MINIMAL)
    assert (done.code, done.out, done.err) == (0, "podcliqueset.grove.io/minimal unchanged\n", "")


def test_members_of_an_applyset_that_the_operator_leads_are_not_pruned(bench: Bench) -> None:
    """The set was applied with all that it becomes before there was an operator."""
    extra = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extra", "namespace": "default"}, "data": {"a": "b"}}
    assert bench.run("apply", bench.file(minimal(), extra), "-n", "default", "--applyset", "shop", "--prune").code == 0
    before = {ref for ref in bench.cluster.store.objects if ref.kind.startswith("Pod")}
    bench.cluster.seed(DEPLOYMENT)
    done = bench.run("apply", MINIMAL, "-n", "default", "--applyset", "shop", "--prune", "-o", "json")
    assert done.code == 0, done.err
    assert [one["name"] for one in json.loads(done.out)["objects"] if one["action"] == "pruned"] == ["extra"]
    assert {ref for ref in bench.cluster.store.objects if ref.kind.startswith("Pod")} == before
