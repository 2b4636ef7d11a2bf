"""No input, however strange, ends in a traceback, a hang, or half an output."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.suite.rows import rows

from ..running import ROOT, assert_clear, run

# One replica and six pods, so that a run takes 5 ms: it is spoilt two thousand times below.
RICH = yaml.load(
    """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: rich
  namespace: ml
  labels: {app: rich}
  annotations: {note: rich}
spec:
  replicas: 1
  updateStrategy: {type: OnDelete}
  template:
    cliqueStartupType: CliqueStartupTypeExplicit
    terminationDelay: 1h30m
    priorityClassName: high
    headlessServiceConfig: {publishNotReadyAddresses: true}
    resourceClaimTemplates:
      - name: gpus
        templateSpec:
          spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
    resourceSharing:
      - {name: gpus, scope: PerReplica, filter: {childCliqueNames: [router]}}
    cliques:
      - name: router
        labels: {tier: front}
        annotations: {note: router}
        spec:
          roleName: router
          replicas: 2
          minAvailable: 1
          autoScalingConfig:
            minReplicas: 2
            maxReplicas: 4
            metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
          podSpec:
            containers:
              - name: main
                image: nginx
                env: [{name: A, value: b}, {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
                ports: [{containerPort: 80, name: http}]
                resources: {requests: {cpu: 100m, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}
                livenessProbe: {httpGet: {path: /, port: http}, periodSeconds: 5}
                volumeMounts: [{name: data, mountPath: /data}]
            volumes: [{name: data, emptyDir: {sizeLimit: 1Gi}}]
      - name: worker
        resourceSharing: [{name: gpus, scope: AllReplicas}]
        spec:
          roleName: worker
          replicas: 2
          startsAfter: [router]
          podSpec: {containers: [{name: main, image: nginx}], restartPolicy: Always}
    podCliqueScalingGroups:
      - name: model
        annotations: {note: model}
        cliqueNames: [worker]
        replicas: 2
        minAvailable: 1
        scaleConfig:
          minReplicas: 1
          maxReplicas: 3
          metrics: [{type: Pods, pods: {metric: {name: requests}, target: {type: AverageValue, averageValue: "5"}}}]
""",
    yaml.CSafeLoader,
)

WRONG_VALUES: dict[str, list[Any]] = {
    "null": [None],
    "text": ["", "x" * 300],
    "number": [-1, 2**63, 1.5],
    "boolean": [True],
    "list": [[], [[]], [None]],
    "map": [{}, {"": None}, {"a": {"b": []}}],
}
TYPES = {str: "text", int: "number", bool: "boolean", list: "list", dict: "map"}

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{c}: &{c} [{', '.join([f'*{b}'] * 9)}]\n" for b, c in zip("abcdefgh", "bcdefghi", strict=True)
)

HOSTILE_TEXTS = {
    "tabs": "kind: PodCliqueSet\n\tspec: 1\n",
    "a duplicate key": "kind: PodCliqueSet\nkind: PodCliqueSet\n",
    "anchors that explode": BOMB,
    "an anchor inside itself": "a: &a [*a]\n",
    "an alias of nothing": "a: *b\n",
    "a merge of itself": "a: &a {<<: *a}\n",
    "a merge of text": "a: {<<: text}\n",
    "nesting in brackets": "[" * 20_000,
    "nesting in braces": "{a: " * 20_000,
    "nesting by lines": "".join(f"{'  ' * depth}a:\n" for depth in range(300)),
    "nesting of lists in lines": "- " * 5_000 + "x\n",
    "nesting in JSON": '{"a":' * 20_000,
    "a Python object": "!!python/object/apply:os.system [echo]\n",
    "an unknown tag": "a: !secret x\n",
    "binary data": "a: !!binary aGVsbG8=\n",
    "a set": "!!set {a, b}\n",
    "an ordered map": "!!omap [a: 1]\n",
    "a timestamp": "a: 2024-01-01T00:00:00Z\n",
    "a key that is a list": "? [a, b]\n: c\n",
    "a key that is a number": "1: 2\n",
    "a key that is null": "~: 2\n",
    "a whole number without end": f"replicas: {'9' * 5000}\n",
    "a fraction that is infinite": "replicas: .inf\n",
    "a fraction that is no number": "replicas: .nan\n",
    "a fraction too large": "replicas: 1e999\n",
    "base sixty": "replicas: 190:20:30\n",
    "two thousand documents": "---\na: 1\n" * 2000,
    "empty documents": "---\n" * 1000,
    "only a comment": "# nothing\n",
    "only a mark of byte order": "\ufeff",
    "separators of lines from Unicode": "a: x\u2028b: y\u2029c: z\x85d: e\n",
    "half of a pair of surrogates": '{"a": "\\ud800"}',
    "a NUL in an escape": 'a: "\\0"\n',
    "escape sequences": 'kind: "\\e[2J\\e[31m"\napiVersion: v1\n',
    "characters that turn text around": "kind: \u202egnorw\napiVersion: v1\n",
    "a very long line": "kind: " + "x" * 1_000_000 + "\napiVersion: v1\n",
    "a very long key": "x" * 1_000_000 + ": 1\n",
    "many keys": "".join(f"k{number}: 1\n" for number in range(5000)),
    "a directive": "%YAML 9.9\n---\na: 1\n",
    "a percent sign": "%\n",
    "an unclosed quote": "a: 'b\n",
    "an unclosed block": "a: {b: c\n",
    "a list at the top": "- a\n- b\n",
    "a text at the top": "just words\n",
    "a number at the top": "5\n",
    "null at the top": "null\n",
    "trailing junk after JSON": '{"a": 1} junk',
    "two JSON values": '{"a": 1}\n{"b": 2}\n',
    "JSON with a comment": '{"a": 1, // no\n "b": 2}',
    "JSON with a comma at the end": '{"a": 1,}',
    "a List of nothing": "apiVersion: v1\nkind: List\n",
    "a List of null": "apiVersion: v1\nkind: List\nitems: null\n",
    "a List of texts": "apiVersion: v1\nkind: List\nitems: [a, 1, null, []]\n",
    "a List of Lists": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: []}]\n",
    "a kind that is a map": "apiVersion: grove.io/v1alpha1\nkind: {a: b}\n",
    "a version that is a number": "apiVersion: 1\nkind: PodCliqueSet\n",
    "a set and nothing else": "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\n",
    "a set without content": "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata:\nspec:\n",
    "a template for text": "{{ 7 * 7 }}\n",
    "a shell's answer to a missing file": "cat: x.yaml: No such file or directory\n",
    "a page of HTML": "<!DOCTYPE html>\n<html><body>404</body></html>\n",
}


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in entries:
        yield (*path, key)
        yield from paths(child, (*path, key))


def at(path: tuple[str | int, ...]) -> Any:
    value: Any = RICH
    for step in path:
        value = value[step]
    return value


def replaced(path: tuple[str | int, ...], value: Any, of: Any = RICH) -> Any:
    manifest = copy.deepcopy(of)
    parent = manifest
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return manifest


def compile_bytes(data: bytes, *flags: str) -> None:
    assert_clear(run("compile", "-", "--pods", *flags, stdin=data))


def compile_manifest(*manifests: Any) -> None:
    compile_bytes(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)}).encode())


PATHS = list(paths(RICH))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


def test_the_manifest_that_is_spoilt_below_is_good() -> None:
    ended = run("compile", "-", stdin=json.dumps(RICH).encode())
    assert (ended.code, ended.err) == (0, "")


@rows("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
@rows("command", ["compile", "lint"])
def test_it_ends_in_clear_words(command: str, text: str) -> None:
    assert_clear(run(command, "-", stdin=text.encode("utf-8", "surrogatepass")))


@rows("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
@rows("option", ["--config", "--snapshot", "--old"])
def test_it_ends_in_clear_words_in_every_place_where_a_file_is_read(option: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    command = "lint" if option == "--old" else "compile"
    assert_clear(run(command, option, str(path), "-", stdin=json.dumps(RICH).encode()))


@rows("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_it_ends_in_clear_words_as_a_rule_and_as_a_template(text: str, tmp_path: Path) -> None:
    """Both in one run, which reads all files and reports all problems."""
    for room in ("rules", "templates"):
        (tmp_path / room).mkdir(exist_ok=True)
        (tmp_path / room / "podclique.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    ended = run("compile", "--rules", str(tmp_path), "-", stdin=json.dumps(RICH).encode())
    assert_clear(ended)
    assert (ended.code, "podclique.yaml" in ended.err) == (1, True)


@pytest.mark.parametrize("type_of_value", WRONG_VALUES)
def test_a_wrong_value_at_any_path_ends_in_clear_words(type_of_value: str) -> None:
    """Where a path has that type, each of its values is a case of its own; elsewhere all are of a wrong type, so one in turn will do."""
    values = WRONG_VALUES[type_of_value]
    for number, path in enumerate(PATHS):
        is_of_type = TYPES[type(at(path))] == type_of_value
        for value in values if is_of_type else [values[number % len(values)]]:
            compile_manifest(replaced(path, value))


@pytest.fixture(scope="module")
def live_objects() -> list[Any]:
    """What a cluster could hold once the set runs: every object, Pods too, with UIDs and status."""
    printed = json.loads(run("compile", "-", "--pods", "-o", "json", stdin=json.dumps(RICH).encode()).out)["items"]
    for number, manifest in enumerate([RICH, *printed]):
        manifest["metadata"]["uid"] = f"uid-{number}"
        manifest["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "reason": "Fine"}]}
    return [RICH, *printed]


def places(manifest: Any) -> list[tuple[str | int, ...]]:
    """The paths of an object of a cluster, without pod templates; of its labels two, for any is read as the others are."""
    labels = list(manifest["metadata"]["labels"])[2:]
    read = [path for path in paths(manifest) if "podSpec" not in path and "containers" not in path]
    return [path for path in read if path[:2] != ("metadata", "labels") or path[-1] not in labels]


@pytest.mark.parametrize("values", [[None], ["x"], [-1, True], [[None]], [{"a": []}]], ids=json.dumps)
def test_a_wrong_value_at_any_path_of_a_snapshot_ends_in_clear_words(values: list[Any], live_objects: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "now.json"
    for kind in ("Pod", "PodClique", "PodCliqueScalingGroup"):
        index = next(index for index, manifest in enumerate(live_objects) if manifest["kind"] == kind)
        for number, place in enumerate(places(live_objects[index])):
            spoilt = replaced(place, values[number % len(values)], live_objects[index])
            path.write_text(json.dumps({"kind": "List", "items": [*live_objects[:index], spoilt, *live_objects[index + 1 :]]}))
            assert_clear(run("compile", "-", "--pods", "--snapshot", str(path), stdin=json.dumps(RICH).encode()))


def test_a_missing_field_at_any_path_ends_in_clear_words() -> None:
    for path in PATHS:
        manifest = copy.deepcopy(RICH)
        parent = manifest
        for step in path[:-1]:
            parent = parent[step]
        del parent[path[-1]]
        compile_manifest(manifest)


@given(st.binary(max_size=2000))
def test_any_bytes_end_in_clear_words(data: bytes) -> None:
    compile_bytes(data)


@given(st.text(alphabet=st.sampled_from("abk: -[]{},&*#!|>'\"%@`\n\t?~<=1.0"), max_size=200))
def test_any_text_that_looks_like_yaml_ends_in_clear_words(text: str) -> None:
    compile_bytes(text.encode())


@given(JSON_VALUES)
def test_any_json_ends_in_clear_words(value: Any) -> None:
    compile_bytes(json.dumps(value).encode())


@given(st.sampled_from(PATHS), JSON_VALUES)
def test_any_value_at_any_path_ends_in_clear_words(path: tuple[str | int, ...], value: Any) -> None:
    compile_manifest(replaced(path, value))


@given(st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(PATHS)), min_size=1, max_size=3))
def test_parts_in_wrong_places_end_in_clear_words(moves: list[tuple[tuple[str | int, ...], tuple[str | int, ...]]]) -> None:
    manifests = []
    for source, target in moves:
        manifests.append(replaced(target, copy.deepcopy(at(source))))
    compile_manifest(*manifests)


@given(st.integers(0, 4000), st.integers(0, 400))
def test_a_file_that_is_cut_anywhere_ends_in_clear_words(start: int, length: int) -> None:
    text = yaml.safe_dump(RICH)
    compile_bytes((text[:start] + text[start + length :]).encode())


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12), max_size=4))
def test_any_arguments_end_in_clear_words(arguments: list[str]) -> None:
    ended = run(*arguments)
    assert ended.code in (0, 1, 2)
    assert "internal error" not in ended.err


FLAGS = [
    "-n",
    "--namespace",
    "-o",
    "--output",
    "--config",
    "--snapshot",
    "--kube-version",
    "--pods",
    "--rules",
    "--strict",
    "--max-objects",
    "--",
    "-",
]
VALUES = [
    "",
    "yaml",
    "0",
    "-1",
    "99999999999999999999",
    "1.32",
    "default",
    "/dev/null",
    "none.yaml",
    str(ROOT / "tests" / "cli" / "manifests"),
    "a\nb",
    "ä",
    "\udcff",
]


@given(st.lists(st.sampled_from(FLAGS + VALUES), max_size=6))
def test_any_mixture_of_flags_and_values_ends_in_clear_words(arguments: list[str]) -> None:
    ended = run("compile", *arguments)
    assert ended.code in (0, 1, 2)
    assert "internal error" not in ended.err
