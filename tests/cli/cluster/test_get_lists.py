"""`grove get sets`, `jobs`, `gangs` and `pods` print as kubectl prints: names, objects, templates, columns, and in an order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.ref import Manifest
from tests.suite.rows import rows

from .in_memory import Bench, Ended

GROVE = "grove.io/v1alpha1"
SET = {"app.kubernetes.io/part-of": "sft", "app.kubernetes.io/managed-by": "grove-operator"}
MEMBER = {**SET, "grove.io/podgang": "sft-0", "grove.io/podclique": "sft-0-worker"}
MANAGED = [{"manager": "kubectl", "operation": "Update", "apiVersion": GROVE, "fieldsType": "FieldsV1", "fieldsV1": {}}]


def made(kind: str, name: str, api: str = "v1", labels: dict[str, str] | None = None, **rest: Any) -> Manifest:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "shop", "labels": labels or {}}, **rest}


def pod(name: str, labels: dict[str, str], status: Manifest, node: str = "", **spec: Any) -> Manifest:
    container = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": 4}}}
    return made("Pod", name, labels=labels, spec={"containers": [container], **({"nodeName": node} if node else {}), **spec}, status=status)


def running_pod(restarts: int = 0) -> Manifest:
    container = {"name": "main", "ready": True, "restartCount": restarts, "state": {"running": {}}}
    return {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [container], "podIP": "10.0.0.7"}


JOB = {
    "phase": "Running",
    "restartCount": 1,
    "startTime": "2026-01-01T00:00:00Z",
    "completionTime": "2026-01-01T01:00:00Z",
    "trainingReplicas": [{"index": 0, "attempt": 2}],
}
OBJECTS = [
    made("PodCliqueSet", "chat", GROVE, labels={"team": "web"}, spec={"replicas": 10}),
    made("PodCliqueSet", "code", GROVE, labels={"team": "ml"}, spec={"replicas": 9}),
    made("PodCliqueSet", "sft", GROVE, spec={"replicas": 1, "workloadType": "Training", "trainingSpec": {"maxRestarts": 3}}, status=JOB),
    made(
        "PodGang", "sft-0", "scheduler.grove.io/v1alpha1", labels=SET, spec={"podgroups": [{"minReplicas": 2}]}, status={"phase": "Running"}
    ),
    pod("sft-0-a", MEMBER, running_pod(restarts=3), node="node-1"),
    pod("sft-0-b", MEMBER, {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}),
    pod("elsewhere", {}, running_pod()),
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(*OBJECTS)
    return bench


def printed(bench: Bench, *words: str) -> str:
    ended = bench.run("get", *words, "-n", "shop")
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def test_names_are_those_that_kubectl_takes(bench: Bench) -> None:
    assert printed(bench, "sets", "chat", "sft", "-o", "name") == "podcliqueset.grove.io/chat\npodcliqueset.grove.io/sft\n"
    assert printed(bench, "pods", "sft-0-a", "-o=name") == "pod/sft-0-a\n"


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_one_name_gives_the_object_and_several_a_list(output: str, read: Any, bench: Bench) -> None:
    assert read(printed(bench, "sets", "chat", "-o", output))["spec"] == {"replicas": 10}
    many = read(printed(bench, "sets", "chat", "code", "-o", output))
    assert (many["apiVersion"], many["kind"], [one["metadata"]["name"] for one in many["items"]]) == ("v1", "List", ["chat", "code"])


def test_field_managers_are_left_out(bench: Bench) -> None:
    bench.cluster.seed({**OBJECTS[0], "metadata": {**OBJECTS[0]["metadata"], "managedFields": MANAGED}})
    assert "managedFields" in bench.find("PodCliqueSet", "chat", group="grove.io")["metadata"]
    assert "managedFields" not in json.loads(printed(bench, "sets", "chat", "-o", "json"))["metadata"]


def test_labels_select(bench: Bench) -> None:
    assert printed(bench, "sets", "-l", "team=ml", "-o", "name") == "podcliqueset.grove.io/code\n"
    assert printed(bench, "sets", "-l", "team in (ml,web)", "-o", "name").count("\n") == 2


def test_a_selector_that_cannot_be_understood_is_refused_before_anything_is_read(bench: Bench) -> None:
    ended = bench.run("get", "sets", "-l", "team==ml=web")
    assert (ended.code, ended.out, bench.cluster.log) == (2, "", [])
    assert "cannot parse 'team==ml=web'" in ended.err


TEMPLATES = {
    "jsonpath={.items[*].metadata.name}": "chat code sft",
    'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.spec.replicas}{"\\n"}{end}': "chat\t10\ncode\t9\nsft\t1\n",
    'jsonpath={.items[?(@.spec.workloadType=="Training")].metadata.name}': "sft",
    "jsonpath-as-json={.items[*].metadata.name}": '[\n    "chat",\n    "code",\n    "sft"\n]\n',
    "custom-columns=NAME:.metadata.name,COUNT:.spec.replicas,TYPE:.spec.workloadType": (
        "NAME   COUNT   TYPE\nchat   10      <none>\ncode   9       <none>\nsft    1       Training\n"
    ),
}


@rows(("output", "expected"), TEMPLATES.items(), ids=TEMPLATES)
def test_templates_print_what_kubectl_prints(output: str, expected: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(*OBJECTS)
    assert printed(bench, "sets", "-o", output) == expected


@pytest.mark.parametrize("path", [".spec.replicas", "{.spec.replicas}", "spec.replicas"])
def test_numbers_are_sorted_by_size(path: str, bench: Bench) -> None:
    assert printed(bench, "sets", "--sort-by", path, "-o", "jsonpath={.items[*].metadata.name}") == "sft code chat"


def test_labels_are_columns_before_sentences(bench: Bench) -> None:
    lines = [line.split() for line in printed(bench, "sets", "-L", "team,example.com/no", "-L", "app", "--show-labels").splitlines()]
    assert lines[0][-5:] == ["TEAM", "NO", "APP", "LABELS", "WHY"]
    assert {(line[0], *line[8:]) for line in lines[1:]} == {("chat", "web", "team=web"), ("code", "ml", "team=ml"), ("sft", "<none>")}
    assert printed(bench, "pods", "sft-0-a", "--show-labels", "--no-headers").split()[-1] == ",".join(
        f"{key}={value}" for key, value in sorted(MEMBER.items())
    )


def test_a_table_is_sorted_as_well(bench: Bench) -> None:
    lines = printed(bench, "sets", "--sort-by=.spec.replicas", "--no-headers").splitlines()
    assert [line.split()[0] for line in lines] == ["sft", "code", "chat"]


WRONG = {
    "-o table": 'unable to match a printer suitable for the output format "table", allowed formats are: custom-columns,json,',
    "-o jsonpath={.items[*}": "error parsing jsonpath {.items[*}, unterminated array",
    "-o jsonpath": "template format specified but no template given",
    "-o custom-columns": "custom-columns format specified but no custom columns given",
    "-o custom-columns=NAME": "unexpected custom-columns spec: NAME, expected <header>:<json-path-expr>",
    "-o jsonpath={.items[7].kind}": 'error executing jsonpath "{.items[7].kind}": array index out of bounds: index 7, length 3',
    "--sort-by .spec.nothing": 'couldn\'t find any field with path "{.spec.nothing}" in the list of objects',
    "--sort-by {.spec": "unexpected path string '{.spec', expected a 'name1.name2' or '.name1.name2'",
    "chat -l team=web": "name cannot be provided when a selector is specified",
    "chat -A": "a resource cannot be retrieved by name across all namespaces",
    "svc/chat": "'svc/chat' is not a PodCliqueSet",
}


@rows(("words", "told"), WRONG.items(), ids=WRONG)
def test_a_mistake_is_named(words: str, told: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(*OBJECTS)
    ended = bench.run("get", "sets", "-n", "shop", *words.split(" ", 1 if words.startswith("-") else -1))
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


def test_a_name_that_does_not_exist_is_told_as_kubectl_does_and_the_others_are_printed(bench: Bench) -> None:
    missing = 'Error from server (NotFound): podcliquesets.grove.io "nope" not found\n'
    assert bench.run("get", "sets", "nope", "chat", "-n", "shop", "-o", "name") == Ended(1, "podcliqueset.grove.io/chat\n", missing)
    assert bench.run("get", "sets", "nope", "-n", "shop", "-o", "json") == Ended(1, "", missing)
    assert bench.run("get", "sets", "nope", "-n", "shop", "--ignore-not-found") == Ended(0, "", "")


@pytest.mark.parametrize(("words", "told"), [(("-n", "shop"), "in shop namespace."), (("-A",), "found")])
def test_where_there_is_nothing_a_table_says_so_and_a_list_is_empty(words: tuple[str, ...], told: str, bench: Bench) -> None:
    ended = bench.run("get", "sets", "-l", "team=none", *words)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith("No resources found") and ended.err.endswith(f"{told}\n")
    assert json.loads(bench.run("get", "sets", "-l", "team=none", "-o", "json", *words).out)["items"] == []


@pytest.mark.parametrize("alias", ["sets", "set", "pcs", "PodCliqueSets", "podcliqueset.grove.io"])
def test_kinds_may_be_called_as_kubectl_calls_them(alias: str, bench: Bench) -> None:
    assert printed(bench, alias, "chat", "-o", "name") == "podcliqueset.grove.io/chat\n"


def test_jobs_are_the_training_workloads(bench: Bench) -> None:
    head, line = (line.split() for line in printed(bench, "jobs", "-o", "wide").splitlines())
    told = dict(zip(head, line, strict=False))
    assert (told["NAME"], told["STATUS"], told["ATTEMPT"], told["RESTARTS"], told["PODS"]) == ("sft", "Running", "2", "1/3", "1/2")
    assert (told["GPUS"], told["DURATION"]) == ("4", "1h")
    ended = bench.run("get", "jobs", "chat", "sft", "-n", "shop", "-o", "name")
    assert (ended.code, ended.out) == (1, "podcliqueset.grove.io/sft\n")
    assert "'chat' is not a training workload" in ended.err


def test_gangs_say_what_of_them_is_placed_and_ready(bench: Bench) -> None:
    head, line = (line.split() for line in printed(bench, "gangs").splitlines())
    told = dict(zip(head, line, strict=False))
    assert [told[name] for name in ("NAME", "SET", "PHASE", "READY", "SCHEDULED", "NEEDED", "GPUS")] == [
        "sft-0", "sft", "Running", "1/2", "1", "2", "4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("states", "phase"),
    [(("placed", "waiting"), "Pending"), (("placed", "ready"), "Starting"), (("ready", "ready"), "Running")],
)
def test_a_gang_whose_scheduler_reports_nothing_has_the_phase_of_its_pods(states: tuple[str, ...], phase: str, bench: Bench) -> None:
    names = ("sft-0-a", "sft-0-b")
    groups = [{"name": name, "minReplicas": 1, "podReferences": [{"name": name, "namespace": "shop"}]} for name in names]
    bench.cluster.seed({**OBJECTS[3], "spec": {"podgroups": groups}, "status": {"phase": "Pending"}})
    for name, state in zip(names, states, strict=True):
        made = pod(name, MEMBER, {"conditions": [{"type": "Ready", "status": "True"}] if state == "ready" else []})
        bench.cluster.seed({**made, "spec": {**made["spec"], **({} if state == "waiting" else {"nodeName": "node-1"})}})
    assert printed(bench, "gangs", "--no-headers").split()[2] == phase


def test_a_gang_says_why_it_is_not_scheduled(bench: Bench) -> None:
    condition = {"type": "Scheduled", "status": "False", "reason": "NoFit", "message": "no room"}
    bench.cluster.seed({**OBJECTS[3], "status": {"conditions": [condition]}})
    assert printed(bench, "gangs", "--no-headers").rstrip().endswith("NoFit: no room")


def test_a_gang_whose_scheduler_reports_pods_alone_says_which_cannot_be_placed(bench: Bench) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/16 nodes are available"}
    for name in ("sft-0-b", "sft-0-c"):
        bench.cluster.seed(pod(name, MEMBER, {"phase": "Pending", "conditions": [condition]}))
    told = "Unschedulable: Pod sft-0-b: 0/16 nodes are available (and 1 more)"
    assert printed(bench, "gangs", "--no-headers").rstrip().endswith(told)


def test_pods_are_those_of_sets_with_kubectls_columns(bench: Bench) -> None:
    lines = [line.split() for line in printed(bench, "pods").splitlines()]
    assert [line[:4] for line in lines] == [
        ["NAME", "READY", "STATUS", "RESTARTS"],
        ["sft-0-a", "1/1", "Running", "3"],
        ["sft-0-b", "0/1", "SchedulingGated", "0"],
    ]
    wide = [line.split()[5:] for line in printed(bench, "pods", "-o", "wide").splitlines()]
    assert wide == [["GANG", "GPUS", "IP", "NODE"], ["sft-0", "4", "10.0.0.7", "node-1"], ["sft-0", "4", "<none>", "<none>"]]


STATES: dict[str, Manifest] = {
    "Terminating": {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Running"}},
    "Evicted": {"status": {"phase": "Failed", "reason": "Evicted"}},
    "Init:0/2": {"status": {"initContainerStatuses": [{"name": "a", "state": {"running": {}}}]}},
    "Init:Error": {"status": {"initContainerStatuses": [{"name": "a", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}},
    "Init:ImagePullBackOff": {"status": {"initContainerStatuses": [{"name": "a", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]}},
    "CrashLoopBackOff": {
        "status": {
            "initContainerStatuses": [
                {"name": "a", "state": {"terminated": {"exitCode": 0}}},
                {"name": "b", "started": True, "ready": True},
            ],
            "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
        }
    },
    "Signal:9": {"status": {"containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 137, "signal": 9}}}]}},
    "Completed": {"status": {"containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}]}},
}


@rows(("word", "change"), STATES.items(), ids=STATES)
def test_the_status_of_a_pod_is_kubectls(word: str, change: Manifest, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    one = pod("p", MEMBER, {}, initContainers=[{"name": "a"}, {"name": "b", "restartPolicy": "Always"}])
    bench.cluster.seed({**one, **change, "metadata": {**one["metadata"], **change.get("metadata", {})}})
    assert printed(bench, "pods", "--no-headers").split()[2] == word
