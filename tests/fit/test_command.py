"""`grove fit` from end to end: what it prints, where, and how it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grove_cli.entry import run

ROOT = Path(__file__).resolve().parents[2]

SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: demo, namespace: ml}
spec:
  replicas: 2
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: 3
          minAvailable: 2
          podSpec:
            containers:
              - {name: web, image: "nginx:1.29", resources: {limits: {nvidia.com/gpu: 4}}}
"""
NODE = """\
---
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {kubernetes.io/hostname: %s}}
status: {allocatable: {cpu: 8, memory: 64Gi, nvidia.com/gpu: %d, pods: 110}}
"""


class Ended(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str


class Grove:
    """Runs the program in this process, in a folder of its own."""

    def __init__(self, folder: Path, streams: pytest.CaptureFixture[bytes]) -> None:
        self.folder = folder
        self.streams = streams

    def file(self, name: str, content: str) -> str:
        (self.folder / name).write_text(content)
        return name

    def __call__(self, *arguments: str) -> Ended:
        self.streams.readouterr()
        code = run(arguments)
        printed = self.streams.readouterr()
        return Ended(code, printed.out.decode(), printed.err.decode())

    def fit(self, *nodes: tuple[str, int], manifest: str = SET, options: tuple[str, ...] = (), more: str = "") -> Ended:
        """`grove fit` with nodes of so many GPUs."""
        self.file("set.yaml", manifest)
        self.file("nodes.yaml", "".join(NODE % (name, name, gpus) for name, gpus in nodes) + more)
        return self("fit", "set.yaml", "--nodes", "nodes.yaml", *options)


@pytest.fixture
def grove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Grove:
    monkeypatch.chdir(tmp_path)
    return Grove(tmp_path, capfdbinary)


FITS = """\
PodCliqueSet ml/demo: 2 of 2 replicas fit
  fits          demo-0  2 pods; 1 of 1 beyond the minimum would also fit
  fits          demo-1  2 pods; 1 of 1 beyond the minimum would also fit

2 gangs on 3 nodes: 2 fit; all pods beyond the minimum: fit
"""
DOES_NOT_FIT = """\
PodCliqueSet ml/demo: 1 of 2 replicas fits
  fits          demo-0  2 pods; 0 of 1 beyond the minimum would also fit
  does not fit  demo-1  2 pods
                - fits alone, but not together with the gangs before it: all nodes together hold fewer than 4 pods of one kind
                - on any nodes: 0 of 2 pods fit <- fails first
                - nvidia.com/gpu is insufficient: 8 requested, 4 per pod; 0 free, at most 0 on one node

2 gangs on 1 node: 1 fits, 1 does not fit
"""


def test_everything_fits(grove: Grove) -> None:
    assert grove.fit(("a", 8), ("b", 8), ("c", 8)) == (0, FITS, "")


def test_a_gang_that_does_not_fit_is_explained(grove: Grove) -> None:
    assert grove.fit(("a", 8)) == (1, DOES_NOT_FIT, "")


def test_the_answer_for_programs_is_one_json_object(grove: Grove) -> None:
    ended = grove.fit(("a", 8), options=("-o", "json"))
    answer: dict[str, Any] = json.loads(ended.out)
    assert (ended.code, ended.err, answer["verdict"], answer["findings"]) == (1, "", "does not fit", [])
    assert [one["verdict"] for one in answer["gangs"]] == ["fits", "does not fit"]
    assert answer["gangs"][0]["placement"] == {"demo-0-web": {"a": 2}}
    assert answer["sets"][0]["replicasThatFit"] == 1


def test_findings_about_nodes_come_with_file_and_line_beside_the_answer(grove: Grove) -> None:
    ended = grove.fit(("a", 8), ("a", 8), ("b", 8))
    assert ended.code == 1
    assert ended.err.startswith("nodes.yaml:9:12: error: Duplicate value: the node a is declared twice, first in nodes.yaml:4")
    assert "2 gangs on 3 nodes: 2 fit" in ended.out


def test_warnings_fail_only_when_asked_to(grove: Grove) -> None:
    pod = "---\nkind: Service\nmetadata: {name: s}\n"
    assert grove.fit(("a", 16), more=pod).code == 0
    assert grove.fit(("a", 16), more=pod, options=("--strict",)).code == 1


def test_findings_are_part_of_the_json(grove: Grove) -> None:
    ended = grove.fit(("a", 16), options=("-o", "json"), more="---\nkind: Service\nmetadata: {name: s}\n")
    (finding,) = json.loads(ended.out)["findings"]
    assert (finding["code"], finding["file"], finding["line"]) == ("node/ignored", "nodes.yaml", 7)


def test_a_set_that_is_wrong_gets_findings_and_no_answer(grove: Grove) -> None:
    ended = grove.fit(("a", 8), manifest=SET.replace("replicas: 3", "replicas: 1"))
    assert (ended.code, ended.out) == (1, "")
    assert "set.yaml:" in ended.err


def test_a_nodes_file_that_is_no_yaml_gets_findings_and_no_answer(grove: Grove) -> None:
    ended = grove.fit(("a", 8), more="---\na: [\n")
    assert (ended.code, ended.out) == (1, "")
    assert "nodes.yaml:" in ended.err


def test_pods_that_run_already_take_their_part(grove: Grove) -> None:
    pod = "---\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: a, containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}\n"
    assert grove.fit(("a", 16)).code == 0
    assert grove.fit(("a", 16), more=pod).code == 1


def test_pods_of_the_set_itself_take_nothing(grove: Grove) -> None:
    metadata = "{name: p, namespace: ml, labels: {grove.io/podgang: demo-0}}"
    spec = "{nodeName: a, containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}"
    assert grove.fit(("a", 16), more=f"---\nkind: Pod\nmetadata: {metadata}\nspec: {spec}\n").code == 0


MNNVL = SET.replace("namespace: ml}", 'namespace: ml, annotations: {grove.io/mnnvl-enabled: "true"}}')


@pytest.mark.parametrize("shape", ["as-proposed", "driver"])
def test_channels_of_compute_domains_need_nothing_of_the_nodes(grove: Grove, shape: str) -> None:
    ended = grove.fit(("a", 8), ("b", 8), manifest=MNNVL, options=("--mnnvl-shape", shape))
    assert (ended.code, ended.err) == (0, "")


def test_nodes_may_be_in_several_files(grove: Grove) -> None:
    for name in "ab":
        grove.file(f"{name}.yaml", NODE % (name, name, 8))
    grove.file("set.yaml", SET)
    assert grove("fit", "set.yaml", "--nodes", "a.yaml", "--nodes", "b.yaml").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "set.yaml"], "--nodes"),
        (["fit", "-", "--nodes", "-"], "Standard input can be the sets or the nodes, not both."),
        (["fit", "set.yaml", "--nodes", "none.yaml"], "none.yaml: no such file or directory"),
        (["fit", "set.yaml", "--nodes", "set.yaml", "-o", "yaml"], "'yaml' is not one of"),
        (["fit", "set.yaml", "--nodes", "set.yaml", "--steps", "-1"], "--steps"),
    ],
)
def test_misuse_ends_with_2(grove: Grove, arguments: list[str], words: str) -> None:
    grove.file("set.yaml", SET)
    ended = grove(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err


def test_a_file_of_other_kinds_has_no_nodes(grove: Grove) -> None:
    grove.file("set.yaml", SET)
    ended = grove("fit", "set.yaml", "--nodes", "set.yaml")
    assert ended.code == 1
    assert "PodCliqueSet is neither a Node nor a Pod" in ended.err


def test_the_command_in_the_head_of_the_example_works(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "examples" / "nodes.yaml").read_text()
    (command,) = [line.removeprefix("#   grove ") for line in text.splitlines() if line.startswith("#   grove ")]
    ended = grove(*command.split(), "--strict")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith("1 gang on 5 nodes: 1 fits; all pods beyond the minimum: fit\n")


OUTPUT = re.compile(r"<!-- output: (.+) -->\n```\n(.*?)```", re.DOTALL)
PAGE = ROOT / "docs" / "fit.md"


def test_the_page_shows_what_the_command_prints(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ((command, shown),) = OUTPUT.findall(PAGE.read_text())
    assert grove(*command.split()) == (1, shown, "")


def test_the_page_lists_every_finding_about_nodes() -> None:
    core = ROOT / "grove_compiler" / "fit"
    made = {code for path in core.glob("node_*.py") for code in re.findall(r'"(node/[a-z-]+)"', path.read_text())}
    assert made == set(re.findall(r"`(node/[a-z-]+)`", PAGE.read_text()))
