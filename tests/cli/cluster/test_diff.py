"""`grove diff`: what an apply would change, field by field, and who changed it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from applier.errors import Unreachable

from .in_memory import MINIMAL, Bench, config_map, deployment


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    found = Bench(tmp_path)
    found.run("apply", found.file(config_map("a", x="1"), deployment("web")))
    found.writes()
    return found


def test_nothing_differs(bench: Bench) -> None:
    ended = bench.run("diff", bench.file(config_map("a", x="1"), deployment("web")))
    assert ended == (0, "No differences: 2 unchanged\n", "")


def test_what_differs_is_shown(bench: Bench) -> None:
    ended = bench.run("diff", bench.file(config_map("a", x="2"), deployment("web")))
    assert (ended.code, ended.err) == (1, "")
    assert '-  x: "1"\n+  x: "2"\n' in ended.out
    assert ended.out.endswith("1 object differs: 1 configured; 1 unchanged\n")


def test_what_is_not_there_differs(bench: Bench) -> None:
    ended = bench.run("diff", bench.file(config_map("b", x="2")))
    assert (ended.code, "created ConfigMap/shop/b" in ended.out) == (1, True)


@pytest.mark.parametrize("options", [(), ("--server",)])
def test_nothing_is_written(bench: Bench, options: tuple[str, ...]) -> None:
    bench.run("diff", bench.file(config_map("a", x="2"), config_map("b")), *options)
    assert bench.writes() == []


@pytest.mark.parametrize(("options", "asked"), [((), []), (("--server",), ["apply a", "apply b"])])
def test_the_server_tries_what_would_be_written_and_nothing_else(bench: Bench, options: tuple[str, ...], asked: list[str]) -> None:
    bench.cluster.seed(config_map("held", x="theirs"), manager="helm")
    bench.run("diff", bench.file(config_map("a", x="2"), config_map("b"), deployment("web"), config_map("held", x="ours")), *options)
    assert [f"{request.verb} {request.name}" for request in bench.cluster.log if request.dry_run] == asked


def test_who_changed_a_field_is_named(bench: Bench) -> None:
    bench.cluster.seed(config_map("a", x="edited"), manager="kubectl-edit")
    ended = bench.run("diff", bench.file(config_map("a", x="1")), "--force-conflicts")
    assert "kubectl-edit (" in ended.out
    assert "set data.x" in ended.out


def test_a_conflict_is_an_error_and_is_shown(bench: Bench) -> None:
    bench.cluster.seed(config_map("c", x="theirs"), manager="helm")
    ended = bench.run("diff", bench.file(config_map("c", x="ours")))
    assert ended.code == 2
    assert "data.x belongs to helm" in ended.out


def test_programs_get_every_object_with_its_fields(bench: Bench) -> None:
    ended = bench.run("diff", "-o", "json", bench.file(config_map("a", x="2"), deployment("web")))
    report = json.loads(ended.out)
    assert (ended.code, report["summary"]) == (1, {"configured": 1, "unchanged": 1})
    assert report["objects"][0]["changes"] == [{"path": "data.x", "old": "1", "new": "2"}]


def test_a_failed_comparison_is_an_error_and_never_unchanged(bench: Bench) -> None:
    for verb in ("get", "list"):
        bench.cluster.fail(verb, Unreachable("the connection broke"), times=-1)
    assert bench.run("diff", bench.file(config_map("a", x="1"))) == (2, "", "grove: the connection broke\n")


def test_a_set_is_compiled_first(bench: Bench) -> None:
    bench.define_ours()
    bench.run("apply", MINIMAL)
    edited = Path(MINIMAL).read_text().replace("agnhost:2.53", "agnhost:2.54").encode()
    ended = bench.run("diff", "-", stdin=edited)
    assert ended.code == 1
    assert "configured PodClique.grove.io/default/minimal-0-server" in ended.out


def test_findings_are_errors_and_not_differences(bench: Bench) -> None:
    broken = Path(MINIMAL).read_text().replace("replicas: 2", "replcas: 2").encode()
    bench.define_ours()
    ended = bench.run("diff", "-", stdin=broken)
    assert (ended.code, ended.out, "unknown field" in ended.err) == (2, "", True)


def test_what_an_autoscaler_drives_is_not_drift(bench: Bench) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web", "namespace": "shop"}}
    file = bench.file(deployment("web", replicas=1), {**scaler, "spec": {"scaleTargetRef": target, "maxReplicas": 9}})
    bench.run("apply", file)
    bench.cluster.seed(deployment("web", replicas=5), manager="hpa")
    assert bench.run("diff", file).code == 0


# Sets.

WEB = ("--applyset", "web", "--prune", "-n", "shop")


@pytest.fixture
def pair(bench: Bench) -> Bench:
    """A set of `a` and `b`."""
    bench.run("apply", *WEB, bench.file(config_map("a", x="1"), config_map("b", z="2")))
    bench.writes()
    return bench


def test_what_would_be_pruned_is_shown_as_gone(pair: Bench) -> None:
    ended = pair.run("diff", *WEB, pair.file(config_map("a", x="1")))
    assert (ended.code, ended.err, pair.writes()) == (1, "", [])
    assert ended.out.startswith("pruned ConfigMap/shop/b: is no longer in the ApplySet\n")
    assert '-data:\n-  z: "2"\n' in ended.out
    assert ended.out.endswith("1 object differs: 1 pruned; 1 unchanged\n")


def test_nothing_would_be_pruned_unless_asked(pair: Bench) -> None:
    ended = pair.run("diff", "--applyset", "web", "-n", "shop", pair.file(config_map("a", x="1")))
    assert ended == (0, "No differences: 1 unchanged\n", "")


def test_deletes_that_would_be_held_name_what_approves_them(pair: Bench) -> None:
    limited = ("diff", *WEB, "--prune-limit", "0", pair.file(config_map("a", x="1")))
    ended = pair.run(*limited)
    approval = ended.out.split("approve with ")[1].split()[0]
    assert ended.code == 2
    assert pair.run(*limited, "--approve", approval).code == 1


def test_programs_get_what_would_be_pruned(pair: Bench) -> None:
    report = json.loads(pair.run("diff", "-o", "json", *WEB, pair.file(config_map("a", x="1"))).out)
    assert report["summary"] == {"unchanged": 1, "pruned": 1}


def test_values_of_secrets_that_would_be_pruned_are_not_shown(bench: Bench) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "data": {"key": "aHVudGVyMg=="}}
    bench.run("apply", *WEB, bench.file(secret, config_map("a", x="1")))
    ended = bench.run("diff", *WEB, bench.file(config_map("a", x="1")))
    assert ("-  key: sha256:" in ended.out, "aHVudGVyMg" in ended.out) == (True, False)


@pytest.mark.parametrize("command", ["diff", "plan", "apply"])
def test_pruning_needs_a_set(bench: Bench, command: str) -> None:
    ended = bench.run(command, "--prune", "x.yaml")
    assert (ended.code, "--prune requires --applyset NAME" in ended.err) == (2, True)
