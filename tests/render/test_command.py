"""`grove graph` from end to end, in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from grove_cli.entry import run
from grove_compiler.compile import CompileResult, SubjectResult

from .sample import node, ref

ROOT = Path(__file__).parents[2]
DISAGGREGATED = "examples/disaggregated.yaml"
MULTI_NODE = "examples/multi-node-aggregated.yaml"
DOMAINS = "tests/render/manifests/topology-and-mnnvl.yaml"
FORMATS = ["tree", "mermaid", "dot", "json", "html"]

Caught = pytest.CaptureFixture[bytes]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def graph(caught: Caught, *arguments: str) -> str:
    code = run(["graph", *arguments])
    printed = caught.readouterr()
    assert (code, printed.err.decode()) == (0, "")
    return printed.out.decode()


@pytest.mark.parametrize("output", ["tree", "mermaid", "dot", "json"])
@pytest.mark.parametrize("example", [DISAGGREGATED, MULTI_NODE])
def test_an_example_is_drawn_as_it_was(example: str, output: str, snapshot: SnapshotAssertion, capfdbinary: Caught) -> None:
    assert graph(capfdbinary, example, "--pods", "-o", output) == snapshot


@pytest.mark.parametrize("output", FORMATS)
def test_a_picture_is_the_same_twice(output: str, capfdbinary: Caught) -> None:
    assert graph(capfdbinary, MULTI_NODE, "-o", output) == graph(capfdbinary, MULTI_NODE, "-o", output)


@pytest.mark.parametrize("output", FORMATS)
def test_a_file_gets_what_standard_output_would(output: str, tmp_path: Path, capfdbinary: Caught) -> None:
    path = tmp_path / "picture"
    assert graph(capfdbinary, MULTI_NODE, "-o", output, "--output-file", str(path)) == ""
    assert path.read_text("utf-8") == graph(capfdbinary, MULTI_NODE, "-o", output)


def test_the_tree_is_what_is_drawn_when_nothing_is_said(capfdbinary: Caught) -> None:
    assert graph(capfdbinary, MULTI_NODE) == graph(capfdbinary, MULTI_NODE, "-o", "tree")


def test_pods_are_drawn_on_request(capfdbinary: Caught) -> None:
    kinds = [
        {each["kind"] for each in json.loads(graph(capfdbinary, MULTI_NODE, "-o", "json", *more))["nodes"]} for more in ((), ("--pods",))
    ]
    assert kinds[1] - kinds[0] == {"Pod"}


@pytest.mark.parametrize("output", ["tree", "mermaid", "dot"])
def test_repetitions_are_drawn_on_request(output: str, tmp_path: Path, capfdbinary: Caught) -> None:
    path = tmp_path / "set.yaml"
    path.write_text((ROOT / "tests/cli/manifests/one-clique.yaml").read_text().replace("replicas: 1", "replicas: 40", 1))
    drawn = [graph(capfdbinary, str(path), "-o", output, *more) for more in ((), ("--all",))]
    assert len(drawn[0].splitlines()) < 60 < 120 < len(drawn[1].splitlines())
    assert "more like it" in drawn[0]
    assert "more like it" not in drawn[1]


@pytest.mark.parametrize("shape", ["as-proposed", "driver"])
def test_the_rules_make_domains_that_the_picture_finds(shape: str, capfdbinary: Caught) -> None:
    found = json.loads(graph(capfdbinary, DOMAINS, "--pods", "--mnnvl-shape", shape, "-o", "json"))
    kinds = {each["id"]: each["kind"] for each in found["nodes"]}
    held: dict[str, set[str]] = {"topology": set(), "mnnvl": set()}
    for domain in found["domains"]:
        held[domain["type"]].update(domain["members"])
    assert {id for id, kind in kinds.items() if kind in ("PodGang", "PodClique", "Pod")} <= held["topology"]
    assert {id for id, kind in kinds.items() if kind in ("ComputeDomain", "PodClique", "Pod")} <= held["mnnvl"]
    assert [domain["name"] for domain in found["domains"] if domain["type"] == "mnnvl"] == ["llm-0-cd", "llm-1-cd"]


def test_topology_has_the_keys_of_its_levels(capfdbinary: Caught) -> None:
    found = json.loads(graph(capfdbinary, DOMAINS, "--mnnvl-shape", "driver", "-o", "json"))
    keys = {(domain["scope"], domain["required"]) for domain in found["domains"] if domain["type"] == "topology"}
    zone, rack, host = "topology.kubernetes.io/zone", "topology.kubernetes.io/rack", "kubernetes.io/hostname"
    assert keys == {("gang", zone), ("gang", rack), ("scaling group", rack), ("clique", host)}


def test_the_declared_set_is_the_users_own_text(tmp_path: Path, capfdbinary: Caught) -> None:
    page = graph(capfdbinary, DISAGGREGATED, "-o", "html")
    assert "dynamo.frontend" in page


def test_items_of_a_list_are_declared_too(tmp_path: Path, capfdbinary: Caught) -> None:
    item = "\n".join(f"    {line}" for line in (ROOT / MULTI_NODE).read_text().splitlines())
    path = tmp_path / "list.yaml"
    path.write_text(f"apiVersion: v1\nkind: List\nitems:\n  -\n{item}\n")
    first = json.loads(graph(capfdbinary, str(path), "-o", "json"))["nodes"][0]
    assert (first["kind"], "level" in first) == ("PodCliqueSet", False)


def test_an_invalid_set_is_not_drawn(tmp_path: Path, capfdbinary: Caught) -> None:
    path = tmp_path / "set.yaml"
    path.write_text("apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: demo}\nspec: {replicas: -1}\n")
    target = tmp_path / "picture"
    assert run(["graph", str(path), "--output-file", str(target)]) == 1
    printed = capfdbinary.readouterr()
    assert printed.out == b""
    assert b"error" in printed.err
    assert not target.exists()


def test_a_file_that_cannot_be_written_is_misuse(tmp_path: Path, capfdbinary: Caught) -> None:
    assert run(["graph", MULTI_NODE, "--output-file", str(tmp_path / "none" / "picture")]) == 2
    assert b"no such file or directory" in capfdbinary.readouterr().err


def test_objects_that_wait_for_each_other_are_a_finding(monkeypatch: pytest.MonkeyPatch, capfdbinary: Caught) -> None:
    nodes = [node("A", "a", owner=ref("B", "b")), node("B", "b", owner=ref("A", "a"))]
    circle = SubjectResult("PodCliqueSet", ref("PodCliqueSet", "demo"), 0, [], nodes=nodes)
    monkeypatch.setattr("grove_cli.compilation.compile_inputs", lambda inputs, program: CompileResult({}, [circle]))
    assert run(["graph", MULTI_NODE]) == 1
    printed = capfdbinary.readouterr()
    assert printed.out == b""
    assert b"objects wait for each other: A/ml/a -> B/ml/b -> A/ml/a" in printed.err


def test_an_unknown_format_names_the_known_ones(capfdbinary: Caught) -> None:
    assert run(["graph", MULTI_NODE, "-o", "svg"]) == 2
    assert b"'tree', 'mermaid', 'dot', 'json', 'html'" in capfdbinary.readouterr().err
