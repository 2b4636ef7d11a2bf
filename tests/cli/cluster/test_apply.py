"""`grove apply`: the cluster made equal to manifests, and an honest account of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from applier.errors import Forbidden, Unreachable
from applier.ref import Ref
from tests.applier.things import asks_for

from ..running import run
from .in_memory import MINIMAL, Bench, Ended, config_map, deployment


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def lines(ended: Ended) -> list[str]:
    assert ended.err == ""
    assert ended.code == 0
    return ended.out.splitlines()


def test_what_is_not_there_is_created(bench: Bench) -> None:
    assert lines(bench.run("apply", bench.file(config_map("a"), config_map("b")))) == ["configmap/a created", "configmap/b created"]


def test_what_is_as_it_should_be_is_not_written(bench: Bench) -> None:
    file = bench.file(config_map("a", x="1"))
    bench.run("apply", file)
    bench.writes()
    assert lines(bench.run("apply", file)) == ["configmap/a unchanged"]
    assert bench.writes() == []


def test_what_differs_is_configured(bench: Bench) -> None:
    bench.run("apply", bench.file(config_map("a", x="1"), deployment("web")))
    assert lines(bench.run("apply", bench.file(config_map("a", x="2"), deployment("web")))) == [
        "configmap/a configured",
        "deployment.apps/web unchanged",
    ]
    assert bench.find("ConfigMap", "a")["data"] == {"x": "2"}


def test_manifests_come_from_standard_input_too(bench: Bench) -> None:
    assert lines(bench.run("apply", "-f", "-", stdin=json.dumps(config_map("a")).encode())) == ["configmap/a created"]


def test_files_may_be_named_kubectls_way_and_ours(bench: Bench) -> None:
    ours, kubectls = bench.file(config_map("a"), name="a.json"), bench.file(config_map("b"), name="b.json")
    assert lines(bench.run("apply", ours, "-f", kubectls, "-R")) == ["configmap/a created", "configmap/b created"]


def test_manifests_without_a_namespace_get_that_of_the_command(bench: Bench) -> None:
    bench.run("apply", bench.file(config_map("a", namespace="")), "-n", "shop")
    assert bench.find("ConfigMap", "a", "shop")


def test_manifests_of_another_namespace_than_the_one_named_are_refused(bench: Bench) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), "-n", "default")
    assert (ended.code, ended.out) == (2, "")
    assert "ConfigMap 'a' is of the namespace 'shop', and -n asks for 'default'" in ended.err


def test_a_selector_leaves_the_rest_alone(bench: Bench) -> None:
    one, other = config_map("a"), config_map("b")
    one["metadata"]["labels"] = {"app": "web"}
    assert lines(bench.run("apply", bench.file(one, other), "-l", "app=web")) == ["configmap/a created"]


def test_a_selector_that_is_none_is_refused(bench: Bench) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), "-l", "app in web")
    assert (ended.code, ended.out, "app in web" in ended.err) == (2, "", True)


@pytest.mark.parametrize("pruning", [(), ("--applyset", "web")], ids=["alone", "with a set"])
def test_a_selector_that_selects_nothing_is_no_wish_for_nothing(bench: Bench, pruning: tuple[str, ...]) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), "-l", "app=wbe", *pruning)
    assert (ended.code, ended.out, ended.err) == (2, "", "grove: -l app=wbe matches none of these objects\n")
    assert bench.writes() == []


@pytest.mark.parametrize(
    ("option", "suffix"), [("--dry-run", "(dry run)"), ("--dry-run=client", "(dry run)"), ("--dry-run=server", "(server dry run)")]
)
def test_a_dry_run_writes_nothing(bench: Bench, option: str, suffix: str) -> None:
    assert lines(bench.run("apply", option, bench.file(config_map("a")))) == [f"configmap/a created {suffix}"]
    assert bench.writes() == []


def test_what_cannot_be_written_is_told_and_the_rest_is_done(bench: Bench) -> None:
    bench.cluster.fail(lambda request: (request.verb, request.name) == ("apply", "b"), Forbidden(403, "Forbidden", "you may not"), times=-1)
    ended = bench.run("apply", bench.file(config_map("a"), config_map("b"), config_map("c")))
    assert (ended.code, ended.out) == (2, "configmap/a created\nconfigmap/c created\n")
    assert ended.err == "grove: ConfigMap/shop/b: failed: you may not\n"


def test_a_server_that_cannot_be_reached_is_one_line(bench: Bench) -> None:
    bench.cluster.fail("list", Unreachable("cannot reach https://example: the connection is refused"), times=-1)
    bench.cluster.fail("get", Unreachable("cannot reach https://example: the connection is refused"), times=-1)
    ended = bench.run("apply", bench.file(config_map("a")))
    assert ended == (2, "", "grove: cannot reach https://example: the connection is refused\n")


def test_reads_that_fail_are_a_line_each(bench: Bench) -> None:
    for plural in ("configmaps", "deployments"):
        bench.cluster.fail(asks_for(plural), Forbidden(403, "Forbidden", f"no {plural}"), times=-1)
    ended = bench.run("apply", bench.file(config_map("a"), deployment("web")))
    assert (ended.code, ended.out) == (2, "")
    assert sorted(ended.err.splitlines()) == ["grove: no configmaps", "grove: no deployments"]


@pytest.mark.parametrize(
    ("policy", "code", "expected"), [("{adopt: false}", 2, "theirs"), ("{adopt: true}", 0, "theirs ours"), ("{}", 0, "theirs ours")]
)
def test_a_rule_says_whether_what_somebody_else_made_may_be_changed(bench: Bench, policy: str, code: int, expected: str) -> None:
    bench.define_ours()
    bench.cluster.seed(config_map("notes", "default", theirs="1"), manager="helm")
    (bench.folder / "rules").mkdir()
    (bench.folder / "templates").mkdir()
    (bench.folder / "rules" / "notes.yaml").write_text(f"rule: team/notes\ndoc: Notes.\ngenerate: notes.yaml\npolicy: {policy}\n")
    template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes, namespace: default}\ndata: {ours: '1'}\n"
    (bench.folder / "templates" / "notes.yaml").write_text(template)
    ended = bench.run("apply", MINIMAL, "--rules", str(bench.folder))
    assert (ended.code, set(bench.find("ConfigMap", "notes", "default")["data"])) == (code, set(expected.split()))
    assert ("created by helm" in ended.err) is (code == 2)


def someone_elses(bench: Bench, value: str) -> None:
    bench.cluster.seed(config_map("a", x=value), manager="helm")


def test_a_conflict_is_told_with_the_field_the_owner_and_the_ways_out(bench: Bench) -> None:
    someone_elses(bench, "theirs")
    ended = bench.run("apply", bench.file(config_map("a", x="ours")))
    assert (ended.code, ended.out) == (2, "")
    for part in ("ConfigMap/shop/a: held", "data.x", "helm", "force", "drop it", "share it"):
        assert part in ended.err


@pytest.mark.parametrize("option", ["--force-conflicts", "--force-conflicts=helm"])
def test_a_conflict_can_be_forced(bench: Bench, option: str) -> None:
    someone_elses(bench, "theirs")
    assert lines(bench.run("apply", option, bench.file(config_map("a", x="ours")))) == ["configmap/a configured"]
    assert bench.find("ConfigMap", "a")["data"] == {"x": "ours"}


def test_only_the_managers_named_are_overruled(bench: Bench) -> None:
    someone_elses(bench, "theirs")
    assert bench.run("apply", "--force-conflicts=flux", bench.file(config_map("a", x="ours"))).code == 2


def test_names_alone_are_for_pipes(bench: Bench) -> None:
    assert lines(bench.run("apply", "-o", "name", bench.file(config_map("a"), deployment("web")))) == ["configmap/a", "deployment.apps/web"]


def test_programs_get_an_account_of_every_object(bench: Bench) -> None:
    account = json.loads(bench.run("apply", "-o", "json", bench.file(config_map("a"))).out)
    assert account["summary"] == {"created": 1}
    assert account["objects"][0]["uid"] == bench.find("ConfigMap", "a")["metadata"]["uid"]


@pytest.mark.parametrize("dry_run", ["--dry-run=none", "--dry-run=server", "--dry-run=client"])
def test_yaml_is_the_objects_as_they_are_then(dry_run: str, bench: Bench) -> None:
    bench.run("apply", bench.file(config_map("a", x="1")))
    file = bench.file(config_map("b", x="2"), config_map("a", x="1"))
    ended = bench.run("apply", "-o", "yaml", file, dry_run)
    first, second = yaml.load_all(ended.out, yaml.CSafeLoader)
    assert ((first["metadata"]["name"], first["data"]), (second["metadata"]["name"], second["data"])) == (
        ("b", {"x": "2"}),
        ("a", {"x": "1"}),
    )
    assert ("uid" in first["metadata"], "uid" in second["metadata"]) == (dry_run != "--dry-run=client", True)
    assert "managedFields" not in ended.out


def test_values_of_secrets_are_in_no_output(bench: Bench) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "stringData": {"key": "hunter2"}}
    bench.cluster.seed({**secret, "stringData": {"key": "swordfish"}}, manager="helm")
    for command in (("apply", "-o", "json"), ("apply", "-o", "yaml"), ("apply",), ("diff",), ("diff", "-o", "json"), ("plan",)):
        ended = bench.run(*command, bench.file(secret))
        assert not [word for word in ("hunter2", "swordfish", "aHVudGVyMg", "c3dvcmRmaXNo") if word in ended.out + ended.err], command


# Waiting.


def test_what_is_ready_is_not_waited_for(bench: Bench) -> None:
    ended = bench.run("apply", "--wait=20s", bench.file(config_map("a")))
    assert (ended.code, ended.out) == (0, "configmap/a created\n")


def test_what_is_not_ready_in_time_is_told_with_what_is_missing(bench: Bench) -> None:
    ended = bench.run("apply", "--wait=0.05", bench.file(deployment("web")))
    assert (ended.code, ended.out) == (2, "deployment.apps/web created\n")
    assert "grove: Deployment.apps/shop/web: not ready after 0 s: " in ended.err


def test_programs_get_what_is_not_ready(bench: Bench) -> None:
    ended = bench.run("apply", "--wait=0.05", "-o", "json", bench.file(deployment("web")))
    [waited] = json.loads(ended.out)["notReady"]
    assert (waited["name"], bool(waited["reason"])) == ("web", True)


# Sets.


def test_a_set_is_written_with_all_that_it_becomes(bench: Bench) -> None:
    bench.define_ours()
    found = lines(bench.run("apply", MINIMAL))
    assert found[0] == "podcliqueset.grove.io/minimal created"
    assert "podclique.grove.io/minimal-0-server created" in found
    owner = bench.find("PodClique", "minimal-0-server", "default", "grove.io")["metadata"]["ownerReferences"][0]
    assert owner["uid"] == bench.find("PodCliqueSet", "minimal", "default", "grove.io")["metadata"]["uid"]


def test_a_set_that_is_there_already_is_not_written_again(bench: Bench) -> None:
    bench.define_ours()
    bench.run("apply", MINIMAL)
    bench.writes()
    assert {line.split()[1] for line in lines(bench.run("apply", MINIMAL))} == {"unchanged"}
    assert bench.writes() == []


def test_without_our_definitions_it_says_how_to_get_them(bench: Bench) -> None:
    ended = bench.run("apply", MINIMAL)
    assert (ended.code, ended.out) == (2, "")
    assert "grove crds | kubectl apply --server-side -f -" in ended.err
    assert bench.writes() == []


def test_findings_are_told_as_compile_tells_them_and_nothing_is_written(bench: Bench) -> None:
    bench.define_ours()
    broken = Path(MINIMAL).read_text().replace("replicas: 2", "replcas: 2").encode()
    ended = bench.run("apply", "-", stdin=broken)
    assert (ended.code, ended.out) == (1, "")
    assert '<stdin>:16:11: error: Invalid value: unknown field "replcas"  [schema/unknown-field]' in ended.err
    assert bench.writes() == []


def test_sets_and_plain_manifests_may_stand_in_one_file(bench: Bench) -> None:
    bench.define_ours()
    both = Path(MINIMAL).read_text() + "---\n" + yaml.safe_dump(config_map("a"))
    found = lines(bench.run("apply", "-", stdin=both.encode()))
    assert {"configmap/a created", "podcliqueset.grove.io/minimal created"} <= {*found}


def test_pods_are_left_to_whoever_runs_the_cliques_unless_asked_for(bench: Bench) -> None:
    bench.define_ours()
    assert not [line for line in lines(bench.run("apply", MINIMAL)) if line.startswith("pod/")]
    assert len([line for line in lines(bench.run("apply", MINIMAL, "--pods")) if line.startswith("pod/")]) == 2


def test_what_compile_printed_elsewhere_is_the_same(bench: Bench) -> None:
    bench.define_ours()
    bench.run("apply", MINIMAL)
    compiled = run("compile", MINIMAL).out.encode()
    assert bench.run("diff", "-", stdin=compiled) == (0, "No differences: 7 unchanged\n", "")


# Recorded sets.


def members(bench: Bench, *names: str) -> str:
    return bench.file(*(config_map(name) for name in names))


def test_what_is_no_longer_in_a_set_is_pruned(bench: Bench) -> None:
    bench.run("apply", "--applyset", "web", "-n", "shop", members(bench, "a", "b"))
    ended = bench.run("apply", "--prune", "--applyset", "web", "-n", "shop", members(bench, "a"))
    assert lines(ended) == ["configmap/a unchanged", "configmap/b pruned"]
    assert bench.cluster.find(Ref("", "ConfigMap", "shop", "b")) is None


def test_what_is_not_in_the_set_is_never_pruned(bench: Bench) -> None:
    bench.cluster.seed(config_map("bystander"))
    bench.run("apply", "--prune", "--applyset", "web", "-n", "shop", members(bench, "a"))
    assert bench.find("ConfigMap", "bystander")


@pytest.mark.parametrize("option", ["--dry-run=client", "--dry-run=server"])
def test_a_dry_run_prunes_nothing_and_records_nothing(bench: Bench, option: str) -> None:
    bench.run("apply", "--applyset", "web", "-n", "shop", members(bench, "a", "b"))
    bench.writes()
    ended = bench.run("apply", "--prune", option, "--applyset", "web", "-n", "shop", members(bench, "a"))
    assert any(line.startswith("configmap/b pruned (") for line in lines(ended))
    assert bench.writes() == []


def test_too_many_deletes_are_held_until_they_are_approved(bench: Bench) -> None:
    prune = ("apply", "--prune", "--applyset", "web", "-n", "shop", "--prune-limit", "1")
    bench.run("apply", "--applyset", "web", "-n", "shop", members(bench, "a", "b", "c"))
    held = bench.run(*prune, members(bench, "a"))
    assert held.code == 2
    assert bench.find("ConfigMap", "b")
    approval = held.err.split("approve with ")[1].split()[0]
    assert lines(bench.run(*prune, "--approve", approval, members(bench, "a")))[1:] == ["configmap/b pruned", "configmap/c pruned"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("apply",), "FILE is missing"),
        (("apply", "x.yaml", "--prune"), "--prune requires --applyset NAME"),
        (("apply", "--plan", "p", "--prune", "--applyset", "x"), "--plan carries out a saved plan"),
        (("apply", "x.yaml", "--prune-limit", "3"), "--prune-limit requires --prune"),
        (("apply", "x.yaml", "--wait=soon"), "is not a duration"),
        (("apply", "x.yaml", "--wait=0"), "is not a valid duration"),
        (("apply", "none.yaml"), "grove: none.yaml: no such file or directory"),
    ],
)
def test_misuse_is_told(bench: Bench, arguments: tuple[str, ...], message: str) -> None:
    ended = bench.run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_an_option_that_may_stand_alone_never_takes_the_next_argument(bench: Bench) -> None:
    assert lines(bench.run("apply", "--dry-run", bench.file(config_map("a")))) == ["configmap/a created (dry run)"]


@pytest.mark.parametrize(("name", "said"), [("", "--applyset': the value is empty"), ("configmaps/", "'configmaps/' is not an object")])
def test_a_set_without_a_name_is_no_apply_without_a_set(bench: Bench, name: str, said: str) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), "--applyset", name)
    assert (ended.code, ended.out, said in ended.err, bench.writes()) == (2, "", True, [])
