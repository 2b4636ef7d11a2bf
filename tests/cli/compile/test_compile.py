"""`grove compile`: what it prints, for which files, and with which settings."""

from __future__ import annotations

import json

import pytest
import yaml

from ..processes import EXAMPLE, KAI, SET, Grove


def kinds(text: str) -> list[str]:
    return [document["kind"] for document in yaml.load_all(text, yaml.CSafeLoader)]


def test_yaml_is_the_objects_in_apply_order(grove: Grove) -> None:
    ended = grove("compile", EXAMPLE, "-o", "yaml")
    assert (ended.code, ended.err) == (0, "")
    assert kinds(ended.out)[0] == "ServiceAccount"
    assert {"PodClique", "PodGang", "Service"} <= set(kinds(ended.out))


def test_json_is_a_list_of_the_same_objects(grove: Grove) -> None:
    printed = json.loads(grove("compile", EXAMPLE, "-o", "json").out)
    assert (printed["apiVersion"], printed["kind"]) == ("v1", "List")
    assert printed["items"] == list(yaml.load_all(grove("compile", EXAMPLE, "-o", "yaml").out, yaml.CSafeLoader))


def test_names_are_those_of_kubectl(grove: Grove) -> None:
    names = grove("compile", EXAMPLE, "-o", "name").out.splitlines()
    assert {"podclique.grove.io/hello-0-web", "podgang.scheduler.grove.io/hello-0", "service/hello-0"} <= set(names)


def test_pods_are_printed_on_request(grove: Grove) -> None:
    without, with_pods = (grove("compile", EXAMPLE, *flags).out for flags in ([], ["--pods"]))
    assert (kinds(without).count("Pod"), kinds(with_pods).count("Pod")) == (0, 2)


def test_the_summary_counts_and_draws(grove: Grove) -> None:
    text = grove("compile", EXAMPLE, "-o", "summary").out
    assert text.startswith("PodCliqueSet default/hello\n")
    assert "└─ clique hello-0-web" in text


def test_standard_input_is_a_hyphen(grove: Grove) -> None:
    assert grove("compile", "-", stdin=SET).out == grove("compile", grove.file("a.yaml", SET)).out


def test_a_folder_is_all_its_manifests(grove: Grove) -> None:
    grove.file("d/a.yaml", SET)
    grove.file("d/e/b.json", json.dumps(yaml.load(SET.replace("demo", "other"), yaml.CSafeLoader)))
    names = grove("compile", "d", "-o", "name").out
    assert "podgang.scheduler.grove.io/demo-0\n" in names
    assert "podgang.scheduler.grove.io/other-0\n" in names


def test_the_namespace_is_for_manifests_that_name_none(grove: Grove) -> None:
    named = SET.replace("name: demo", "name: named\n  namespace: mine")
    ended = grove("compile", "-n", "theirs", "-", stdin=f"{SET}---\n{named}")
    spaces = {
        (document["metadata"]["name"].split("-")[0], document["metadata"]["namespace"])
        for document in yaml.load_all(ended.out, yaml.CSafeLoader)
    }
    assert {("demo", "theirs"), ("named", "mine")} <= spaces


def test_a_configuration_may_be_given_apart(grove: Grove) -> None:
    apart = grove("compile", f"{KAI}/workload.yaml", "--config", f"{KAI}/operator-configuration.yaml")
    assert (apart.code, apart.out) == (0, grove("compile", KAI).out)
    assert "PodGroup" in kinds(apart.out)


def test_a_snapshot_may_be_a_list_as_kubectl_prints_it(grove: Grove) -> None:
    snapshot = grove.file("now.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": []}))
    assert grove("compile", EXAMPLE, "--snapshot", snapshot) == grove("compile", EXAMPLE)


def test_something_else_in_a_snapshot_is_an_error_with_its_place(grove: Grove) -> None:
    snapshot = grove.file("now.yaml", "kind: List\nitems:\n  - 5\n")
    ended = grove("compile", EXAMPLE, "--snapshot", snapshot)
    assert ended.code == 1
    assert ended.err.startswith("now.yaml:3:5: error: must be an object, not the number 5; the snapshot is not an object")


@pytest.mark.parametrize("version", ["1.32", "v1.32", "1.32.4", "v1.32.4-gke.1000"])
def test_a_version_of_kubernetes_may_be_written_as_anybody_writes_it(grove: Grove, version: str) -> None:
    assert grove("compile", EXAMPLE, "--kube-version", version).code == 0


def test_a_set_of_too_many_objects_is_an_error(grove: Grove) -> None:
    ended = grove("compile", EXAMPLE, "--max-objects", "3")
    assert (ended.code, ended.out) == (1, "")
    assert "more than 3 objects" in ended.err


def test_equal_input_gives_equal_bytes_whatever_the_hash_seed(grove: Grove) -> None:
    outputs = {grove("compile", KAI, "--pods", PYTHONHASHSEED=seed).out for seed in ("0", "1", "2")}
    assert len(outputs) == 1


@pytest.mark.parametrize("output", ["yaml", "json", "name", "summary"])
def test_the_output_is_the_same_for_every_locale(grove: Grove, output: str) -> None:
    plain = grove("compile", EXAMPLE, "-o", output, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert plain == grove("compile", EXAMPLE, "-o", output, LC_ALL="C.UTF-8")
