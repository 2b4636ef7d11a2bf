"""`grove explain`: what it says of objects, of fields, and of what is not there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from ...explain.sets import SET_WITH_GROUP as SET
from ..running import Ended, assert_clear, run

CONFIG = """\
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
scheduler:
  defaultProfileName: volcano
  profiles: [{name: volcano}]
"""

SNAPSHOT = """\
apiVersion: grove.io/v1alpha1
kind: PodClique
metadata: {name: web-0-front, namespace: shop, uid: u1}
spec:
  replicas: 5
"""

RULES = """\
rule: team/label
doc: Every PodClique of a team says so.
patch: PodClique
when: clique.template.labels.team is defined and set.namespace != 'test'
do:
  - {op: add, path: /metadata/annotations/team, value: "{{ clique.template.labels.team | upper }}"}
"""

STANDALONE = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: one}
spec:
  replicas: 1
  template:
    cliques: [{name: a, spec: {roleName: a, replicas: 1, podSpec: {containers: [{name: m, image: i:1}]}}}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"set.yaml": SET, "operator.yaml": CONFIG, "now.yaml": SNAPSHOT, "mine/team.yaml": RULES, "one.yaml": STANDALONE}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def explain(*arguments: str) -> Ended:
    return run("explain", "-f", "set.yaml", *arguments)


def explained(*arguments: str) -> str:
    ended = explain(*arguments)
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def shown(*arguments: str) -> str:
    """What is explained, without the lines of files that ship: those change with every edit, and other tests look at them."""
    return re.sub(r"\b((?:rules|templates)/[a-z/-]+\.yaml):\d+", r"\1:#", explained(*arguments))


def field(target: str, path: str, *options: str) -> dict[str, Any]:
    fields: list[dict[str, Any]] = json.loads(explained(target, path, "-o", "json", *options))["fields"]
    (field,) = fields
    return field


class TestAnObject:
    def test_it_is_shown_with_the_origin_of_each_line(self, snapshot: SnapshotAssertion) -> None:
        assert shown("podgang/web-0") == snapshot

    def test_it_names_patches_of_the_user_and_the_conditions_of_others(self, snapshot: SnapshotAssertion) -> None:
        assert shown("podclique/web-0-front", "--rules", "mine") == snapshot

    def test_as_json_it_says_the_same(self) -> None:
        found = json.loads(explained("podclique/web-0-front", "--rules", "mine", "-o", "json"))
        assert found["object"] == "PodClique/shop/web-0-front"
        assert found["rule"]["id"] == "podclique/standalone"
        assert found["template"] == "templates/podclique.yaml"
        assert found["owner"] == "PodCliqueSet/shop/web"
        assert "Service/shop/web-0" in found["after"]
        assert found["policy"] == {"yield": ["/spec/replicas"]}
        assert [loop["name"] for loop in found["loops"]] == ["replica", "clique"]
        assert [patch["path"] for patch in found["patches"]] == ["/metadata/annotations/team"]

    @pytest.mark.parametrize(
        "target",
        [
            "PodClique/web-0-front",
            "podclique/web-0-front",
            "podcliques/web-0-front",
            "pclq/web-0-front",
            "podclique.grove.io/web-0-front",
            "PodClique/shop/web-0-front",
        ],
    )
    def test_it_may_be_called_as_kubectl_calls_it(self, target: str) -> None:
        assert explained(target).startswith("PodClique/shop/web-0-front\n")

    def test_a_pod_is_compiled_when_it_is_asked_for(self) -> None:
        names = run("compile", "set.yaml", "--pods", "-o", "name").out.split()
        pod = next(name for name in names if name.startswith("pod/"))
        assert explained(pod, "spec.schedulerName").startswith("Pod/shop/")


class TestAField:
    def test_a_copy_is_shown_with_its_line(self, snapshot: SnapshotAssertion) -> None:
        assert shown("pclq/web-0-front", "spec.podSpec.containers[0].image") == snapshot

    def test_a_default_is_shown_with_its_rule_and_what_that_read(self, snapshot: SnapshotAssertion) -> None:
        assert shown("pclq/web-0-front", "spec.minAvailable") == snapshot

    def test_a_constant_is_said_to_be_one(self, snapshot: SnapshotAssertion) -> None:
        assert shown("podgang/web-0", "kind") == snapshot

    def test_a_patched_one_names_the_users_rule_and_its_file(self, snapshot: SnapshotAssertion) -> None:
        assert shown("pclq/web-0-front", "metadata.annotations.team", "--rules", "mine") == snapshot

    def test_a_container_is_shown_whole(self, snapshot: SnapshotAssertion) -> None:
        assert shown("pclq/web-0-front", "spec.podSpec") == snapshot

    def test_the_operators_configuration_is_named_with_its_line(self) -> None:
        found = field("podgang/web-0", "metadata.labels.grove.io/scheduler-name", "--config", "operator.yaml")
        said = [(one["how"], one["path"], one["file"], one["line"]) for one in found["inputs"] if one["object"] == "OperatorConfiguration"]
        assert said[0] == ("file", "scheduler.defaultProfileName", "operator.yaml", 4)

    def test_without_a_configuration_its_own_default_is_named(self) -> None:
        found = field("podgang/web-0", "metadata.labels.grove.io/scheduler-name")
        assert ("configuration", "scheduler") in [(one["how"], one["path"]) for one in found["inputs"]]

    def test_what_the_snapshot_says_is_named_with_its_line(self) -> None:
        found = field("pclq/web-0-front", "spec.replicas", "--snapshot", "now.yaml")
        assert found["value"] == 5
        first = found["inputs"][0]
        assert (first["how"], first["object"], first["path"], first["line"]) == (
            "snapshot",
            "PodClique/shop/web-0-front",
            "spec.replicas",
            5,
        )

    def test_a_setting_is_named_as_the_option_that_it_is(self) -> None:
        ended = run("explain", "-f", "one.yaml", "-n", "prod", "pclq/one-0-a", "metadata.namespace")
        assert "default of default/namespace" in ended.out
        assert 'from --namespace "prod"' in ended.out

    def test_the_schemas_default_is_named(self) -> None:
        found = field("pclq/web-0-front", "spec.podSpec.containers[0].ports[0].protocol")
        assert [one["how"] for one in found["inputs"]] == ["schema"]

    def test_an_input_that_is_not_set_is_named_with_the_place_where_it_could_be(self) -> None:
        found = field("podgang/web-0", "metadata.labels.grove.io/scheduler-name")
        absent = [one for one in found["inputs"] if one["how"] == "absent"]
        assert ("spec.template.cliques[0].spec.podSpec.schedulerName", 15) in [(one["path"], one["line"]) for one in absent]

    @pytest.mark.parametrize("path", ["spec.minAvailable", ".spec.minAvailable", "{.spec.minAvailable}", "/spec/minAvailable"])
    def test_it_may_be_written_in_any_usual_way(self, path: str) -> None:
        assert field("pclq/web-0-front", path)["path"] == "spec.minAvailable"

    @pytest.mark.parametrize(
        "path",
        [
            "metadata.labels.grove.io/podgang",
            "metadata.labels[grove.io/podgang]",
            "metadata.labels['grove.io/podgang']",
            "metadata.labels.grove\\.io/podgang",
            "/metadata/labels/grove.io~1podgang",
        ],
    )
    def test_a_key_with_dots_may_be_written_in_any_usual_way(self, path: str) -> None:
        assert field("pclq/web-0-front", path)["path"] == "metadata.labels[grove.io/podgang]"


class TestAnInput:
    def test_the_set_itself_is_shown_with_what_defaults_did(self, snapshot: SnapshotAssertion) -> None:
        assert shown("pcs/web") == snapshot

    def test_a_default_that_a_condition_kept_away_is_named(self) -> None:
        (Path.cwd() / "set.yaml").write_text(STANDALONE.replace("replicas: 1\n", "replicas: 1\n  workloadType: Training\n", 1))
        assert "`object.spec.workloadType != 'Training'` does not hold: it is \"Training\"" in explained("pcs/one", "spec")


NEAREST = {
    "a kind": ("PodGangs2/web-0", "", "PodGang"),
    "a name": ("podgang/wev-0", "", "PodGang/shop/web-0"),
    "a field": ("podgang/web-0", "spec.podGroups", "spec.podgroups"),
    "an inner field": ("podgang/web-0", "spec.podgroups[0].minReplica", "spec.podgroups[0].minReplicas"),
}


class TestWhatIsNotThere:
    def test_a_field_that_was_left_out_says_which_expression_did(self) -> None:
        ended = explain("podgang/web-0", "spec.priorityClassName")
        assert ended.code == 1
        assert "omits it: {{ set.priority_class or omit }}" in ended.err
        assert "spec.template.priorityClassName is not set" in ended.err

    def test_an_object_that_no_rule_makes_says_which_condition_kept_it_away(self) -> None:
        ended = run("explain", "-f", "one.yaml", "hpa/one-0-a")
        assert (ended.code, ended.out) == (1, "")
        assert "there is no HorizontalPodAutoscaler among the objects" in ended.err
        assert "`clique.template.autoscaling` does not hold: it is none" in ended.err
        assert "one.yaml:7" in ended.err

    @pytest.mark.parametrize(("target", "path", "meant"), NEAREST.values(), ids=NEAREST.keys())
    def test_the_nearest_is_suggested(self, target: str, path: str, meant: str) -> None:
        ended = explain(*filter(None, (target, path)))
        assert ended.code == 1
        assert f'did you mean "{meant}"?' in ended.err

    def test_an_index_that_is_too_high_says_how_long_the_list_is(self) -> None:
        assert "spec.podgroups is a list of" in explain("podgang/web-0", "spec.podgroups[99]").err

    def test_a_name_in_two_namespaces_is_asked_back(self) -> None:
        (Path.cwd() / "set.yaml").write_text(SET + "---\n" + SET.replace("namespace: shop", "namespace: other"))
        ended = explain("podgang/web-0")
        assert (ended.code, "may be any of PodGang/shop/web-0, PodGang/other/web-0" in ended.err) == (1, True)

    def test_findings_about_the_input_come_first(self) -> None:
        (Path.cwd() / "set.yaml").write_text(SET.replace("replicas: 3", "replicaz: 3"))
        ended = explain("podgang/web-0")
        assert (ended.code, ended.out) == (1, "")
        assert 'unknown field "replicaz"' in ended.err

    def test_wrong_rules_are_reported(self) -> None:
        (Path.cwd() / "mine" / "team.yaml").write_text(RULES.replace("clique.template", "clique.tmplate"))
        ended = explain("podgang/web-0", "--rules", "mine")
        assert (ended.code, "tmplate" in ended.err) == (1, True)


HOSTILE = [
    ("podgang",), ("/",), ("podgang/",), ("/web-0",), ("a/b/c/d",), ("podgang/web-0", "."), ("podgang/web-0", "]["), ("podgang/web-0", "/"),
    ("podgang/web-0", "spec..podgroups"), ("podgang/web-0", "spec.podgroups[-1]"), ("podgang/web-0", "spec.podgroups[x]"),
    ("podgang/web-0", "metadata.name.x"), ("podgang/web-0", "[" * 500), ("podgang/web-0", "a" * 10_000), ("pod\x1b[31m/x",),
    ("podgang/web-0", "\x1b[31m"), ("podgang/web-0", "spec.podgroups[99999999999999999999]"), ("podgang/web-0", "spec.podgroups[٣]"),
    ("pcs/web", "spec.nowhere"), ("PodGang/ns/web-0",), ("podgang/web-0", "spec", "more"), ("podgang/web-0", "{"), ("ies/x",), ("s/web",),
]  # fmt: skip


@pytest.mark.parametrize("arguments", HOSTILE, ids=[ascii(words)[:40] for words in HOSTILE])
def test_strange_questions_get_a_sentence(arguments: tuple[str, ...]) -> None:
    ended = explain(*arguments)
    assert_clear(ended)


def test_a_target_without_a_name_is_a_misuse() -> None:
    assert explain("podgang").code == 2


def test_a_file_is_needed() -> None:
    assert run("explain", "podgang/web-0").code == 2


def test_an_unreadable_file_is_a_misuse() -> None:
    assert run("explain", "-f", "nowhere.yaml", "podgang/web-0").code == 2


def test_standard_input_may_be_asked_about() -> None:
    ended = run("explain", "-f", "-", "podgang/web-0", "metadata.namespace", stdin=SET.encode())
    assert "<stdin>:5" in ended.out


def test_compiling_after_a_question_gives_what_it_gave_before() -> None:
    before = run("compile", "set.yaml", "--pods").out
    explained("podgang/web-0")
    assert run("compile", "set.yaml", "--pods").out == before
