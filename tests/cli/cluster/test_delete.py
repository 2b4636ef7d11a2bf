"""`grove delete`: what files name, what we made of it, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from applier.ref import Ref

from ..running import ROOT
from .in_memory import MINIMAL, Bench, config_map


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def is_there(bench: Bench, kind: str, name: str, namespace: str = "shop", group: str = "") -> bool:
    return bench.cluster.find(Ref(group, kind, namespace, name)) is not None


def test_what_a_file_names_is_deleted(bench: Bench) -> None:
    bench.cluster.seed(config_map("a"), config_map("b"))
    assert bench.run("delete", bench.file(config_map("a"))) == (0, "configmap/a deleted\n", "")
    assert (is_there(bench, "ConfigMap", "a"), is_there(bench, "ConfigMap", "b")) == (False, True)


def test_what_is_not_there_is_an_error(bench: Bench) -> None:
    bench.cluster.seed(config_map("a"))
    ended = bench.run("delete", bench.file(config_map("a"), config_map("b")))
    assert ended == (2, "configmap/a deleted\n", "grove: ConfigMap/shop/b: not found\n")


def test_what_is_not_there_can_be_fine(bench: Bench) -> None:
    assert bench.run("delete", "--ignore-not-found", bench.file(config_map("b"))) == (0, "", "")


@pytest.mark.parametrize(("option", "suffix"), [("--dry-run", "(dry run)"), ("--dry-run=server", "(server dry run)")])
def test_a_dry_run_deletes_nothing(bench: Bench, option: str, suffix: str) -> None:
    bench.cluster.seed(config_map("a"))
    assert bench.run("delete", option, bench.file(config_map("a"))).out == f"configmap/a deleted {suffix}\n"
    assert is_there(bench, "ConfigMap", "a")


def test_a_set_goes_with_all_that_it_owns(bench: Bench) -> None:
    bench.define_ours()
    bench.run("apply", MINIMAL)
    bench.writes()
    ended = bench.run("delete", MINIMAL, "--no-wait")
    assert (ended.code, ended.err) == (0, "")
    assert {"podcliqueset.grove.io/minimal deleted", "serviceaccount/minimal deleted"} <= {*ended.out.splitlines()}
    assert bench.writes() == ["delete minimal"], "whoever runs a set would make again what is taken from it"
    assert not is_there(bench, "ServiceAccount", "minimal", "default")


def test_what_a_set_owns_and_cannot_go_is_told_with_what_holds_it(bench: Bench) -> None:
    bench.define_ours()
    bench.run("apply", MINIMAL)
    ended = bench.run("delete", MINIMAL, "--timeout", "0.05")
    assert ended.code == 2
    assert "PodClique.grove.io/default/minimal-0-server: failed: should have been deleted with its owner, but still exists" in ended.err
    assert "grove.io/podclique.grove.io" in ended.err


@pytest.mark.parametrize(("words", "done"), [(("delete", "--no-wait"), "deleted"), (("adopt", "--from", "helm"), "adopted")])
def test_a_set_needs_no_kinds_of_others_to_be_deleted_or_adopted(bench: Bench, words: tuple[str, ...], done: str) -> None:
    """Without a driver for ComputeDomains, or without KAI, no object of theirs exists: both commands ended with an error instead."""
    bench.define_ours()
    file = ROOT / "examples" / "mnnvl-config.yaml"
    bench.cluster.seed(yaml.safe_load(file.read_text()), manager="helm")
    ended = bench.run(*words, str(file), "--mnnvl-shape", "driver")
    assert (ended.code, ended.out) == (0, f"podcliqueset.grove.io/finetune {done}\n")


def test_what_a_set_owns_can_be_left(bench: Bench) -> None:
    bench.define_ours()
    bench.run("apply", MINIMAL)
    assert bench.run("delete", MINIMAL, "--cascade", "orphan") == (0, "podcliqueset.grove.io/minimal deleted\n", "")
    assert is_there(bench, "ServiceAccount", "minimal", "default")


def test_of_a_set_that_is_gone_goes_what_we_made_of_it(bench: Bench) -> None:
    bench.define_ours()
    bench.run("apply", MINIMAL)
    bench.run("delete", MINIMAL, "--cascade", "orphan")
    ended = bench.run("delete", MINIMAL, "--ignore-not-found", "--no-wait")
    assert "serviceaccount/minimal deleted" in ended.out
    assert not is_there(bench, "ServiceAccount", "minimal", "default")


def test_what_somebody_else_made_stays(bench: Bench) -> None:
    bench.define_ours()
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "minimal", "namespace": "default"}}
    bench.cluster.seed(account, manager="helm")
    ended = bench.run("delete", MINIMAL, "--ignore-not-found")
    assert ended.err == "grove: ServiceAccount/default/minimal: not deleted: it was not created by grove\n"
    assert is_there(bench, "ServiceAccount", "minimal", "default")


def test_all_members_of_a_recorded_set_are_deleted(bench: Bench) -> None:
    bench.cluster.seed(config_map("bystander"))
    bench.run("apply", "--applyset", "web", "-n", "shop", bench.file(config_map("a"), config_map("b")))
    ended = bench.run("delete", "--applyset", "web", "-n", "shop")
    assert (ended.code, ended.out, ended.err) == (0, "configmap/a deleted\nconfigmap/b deleted\nsecret/web deleted\n", "")
    assert is_there(bench, "ConfigMap", "bystander")


def test_a_set_without_members_is_an_error(bench: Bench) -> None:
    assert bench.run("delete", "--applyset", "web", "-n", "shop") == (2, "", "grove: the set of Secret/shop/web has no members\n")


def test_what_is_still_there_in_the_end_is_told_with_what_holds_it(bench: Bench) -> None:
    held = config_map("a")
    held["metadata"]["finalizers"] = ["example.com/never"]
    bench.cluster.seed(held)
    ended = bench.run("delete", bench.file(config_map("a")), "--timeout", "0.05")
    assert (ended.code, ended.out) == (2, "")
    missing, way_out = ended.err.splitlines()
    assert missing == "grove: ConfigMap/shop/a: failed: is deleted but still exists: waits for finalizer example.com/never"
    assert way_out.endswith("""kubectl patch configmap/a -n shop --type=merge -p '{"metadata":{"finalizers":null}}'""")


def test_programs_get_an_account(bench: Bench) -> None:
    bench.cluster.seed(config_map("a"))
    assert json.loads(bench.run("delete", "-o", "json", bench.file(config_map("a"))).out)["summary"] == {"pruned": 1}


def test_names_alone_are_for_pipes(bench: Bench) -> None:
    bench.cluster.seed(config_map("a"))
    assert bench.run("delete", "-o", "name", bench.file(config_map("a"))).out == "configmap/a\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("delete",), "FILE is missing"), (("delete", MINIMAL, "--applyset", "x"), "Specify either FILE or --applyset")],
)
def test_misuse_is_told(bench: Bench, arguments: tuple[str, ...], message: str) -> None:
    ended = bench.run(*arguments)
    assert (ended.code, ended.out, message in ended.err) == (2, "", True)
