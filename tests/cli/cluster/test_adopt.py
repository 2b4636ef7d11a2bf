"""`grove adopt`: ownership moved to us, and no object changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from applier.errors import Forbidden, WriteConflict

from .in_memory import Bench, config_map


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    found = Bench(tmp_path)
    found.cluster.seed(config_map("a", x="1"), manager="helm")
    return found


def managers(bench: Bench, name: str = "a") -> list[str]:
    return [entry["manager"] for entry in bench.find("ConfigMap", name)["metadata"]["managedFields"]]


def adopt(bench: Bench, *options: str, **data: str) -> tuple[int, str, str]:
    return bench.run("adopt", bench.file(config_map("a", **data)), "--from", "helm", *options)


def test_what_another_manager_owns_becomes_ours(bench: Bench) -> None:
    assert adopt(bench) == (0, "configmap/a adopted\n", "")
    assert managers(bench) == ["grove"]


def test_no_value_changes(bench: Bench) -> None:
    adopt(bench, x="another")
    assert bench.find("ConfigMap", "a")["data"] == {"x": "1"}


def test_afterwards_there_are_no_conflicts_with_it(bench: Bench) -> None:
    file = bench.file(config_map("a", x="2"))
    assert bench.run("apply", file).code == 2
    adopt(bench)
    assert bench.run("apply", file).out == "configmap/a configured\n"


def test_afterwards_fields_that_are_no_longer_wanted_go_away(bench: Bench) -> None:
    adopt(bench)
    bench.run("apply", bench.file(config_map("a", y="2")))
    assert bench.find("ConfigMap", "a")["data"] == {"y": "2"}


def test_what_belongs_to_others_stays_theirs(bench: Bench) -> None:
    bench.cluster.seed(config_map("b", x="1"), manager="flux")
    assert bench.run("adopt", bench.file(config_map("b")), "--from", "helm") == (0, "configmap/b unchanged\n", "")
    assert managers(bench, "b") == ["flux"]


def test_a_dry_run_writes_nothing(bench: Bench) -> None:
    assert adopt(bench, "--dry-run") == (0, "configmap/a adopted (dry run)\n", "")
    assert managers(bench) == ["helm"]


def test_what_is_not_there_has_nothing_to_take_over(bench: Bench) -> None:
    ended = bench.run("adopt", bench.file(config_map("none")), "--from", "helm", "-o", "json")
    assert json.loads(ended.out)["objects"][0]["reason"] == "does not exist yet"


def test_what_is_not_there_is_never_called_unchanged(bench: Bench) -> None:
    ended = bench.run("adopt", bench.file(config_map("none"), config_map("a")), "--from", "helm")
    said = "grove: ConfigMap/shop/none: does not exist yet, so there is nothing to take over\n"
    assert ended == (0, "configmap/a adopted\n", said)


def test_an_object_that_moves_on_meanwhile_is_looked_at_again(bench: Bench) -> None:
    bench.cluster.fail("patch", WriteConflict(409, "Conflict", "has changed"))
    assert adopt(bench) == (0, "configmap/a adopted\n", "")


def test_what_may_not_be_written_is_told(bench: Bench) -> None:
    bench.cluster.fail("patch", Forbidden(403, "Forbidden", "you may not"), times=-1)
    assert adopt(bench) == (2, "", "grove: ConfigMap/shop/a: failed: you may not\n")


def test_somebody_has_to_be_named(bench: Bench) -> None:
    assert bench.run("adopt", bench.file(config_map("a"))).code == 2
