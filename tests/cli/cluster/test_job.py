"""`grove job`: what happened to a training workload, and to suspend it, resume it, or begin it anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from applier.ref import Manifest
from applier.testing.memory import MemoryCluster
from grove_compiler.model import names
from tests.applier.free_schemas import FreeSchemas

from .in_memory import Bench

GROVE = "grove.io/v1alpha1"
REPLICA = {"app.kubernetes.io/part-of": "sft", "grove.io/podcliqueset-replica-index": "0"}
FAILED_POD = names.pod("sft-0-worker", 1, lambda _: False)
FAILED = {
    "replica": 0,
    "attempt": 1,
    "startTime": "2026-11-23T08:01:00Z",
    "endTime": "2026-11-23T08:30:00Z",
    "cause": "PodFailed",
    "podClique": "sft-0-worker",
    "pod": FAILED_POD,
    "container": "main",
    "exitCode": 3,
    "message": "step 900\nloss is NaN",
    "counted": True,
}
STATUS = {
    "phase": "Running",
    "startTime": "2026-11-23T08:01:00Z",
    "restartCount": 1,
    "trainingReplicas": [{"index": 0, "attempt": 2, "phase": "Running", "startTime": "2026-11-23T08:32:00Z"}],
    "attempts": [FAILED],
}


def made(kind: str, name: str, api: str = "v1", **rest: Any) -> Manifest:
    labels = rest.pop("labels", REPLICA)
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels, "creationTimestamp": "2026-11-23T08:00:00Z"}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def job(**status: Any) -> Manifest:
    spec = {"replicas": 1, "workloadType": "Training", "trainingSpec": {"maxRestarts": 2, "maxRuntime": "2h"}}
    return made("PodCliqueSet", "sft", GROVE, labels={}, spec=spec, status=STATUS | status)


def pod(index: int) -> Manifest:
    """A pod of the second attempt that runs."""
    running = {"name": "main", "state": {"running": {"startedAt": "2026-11-23T08:31:30Z"}}}
    status = {"phase": "Running", "containerStatuses": [running]}
    return made(
        "Pod",
        f"sft-0-worker-p{index}",
        labels=REPLICA | {"grove.io/attempt": "2"},
        spec={"hostname": f"sft-0-worker-{index}"},
        status=status,
    )


def event(reason: str, at: str, message: str, kind: str = "PodCliqueSet", name: str = "sft") -> Manifest:
    about = {"apiVersion": GROVE, "kind": kind, "name": name, "uid": f"uid-{name}"}
    return made(
        "Event", f"{name}.{reason}", labels={}, involvedObject=about, type="Warning", reason=reason, message=message, lastTimestamp=at
    )


CLIQUE = made("PodClique", "sft-0-worker", GROVE, spec={"replicas": 2})
EVENTS = [
    event("PodCliqueFailed", "2026-11-23T08:30:01Z", "attempt 1 has failed", "PodClique", "sft-0-worker"),
    event("ReplicaRestarting", "2026-11-23T08:30:02Z", "restart 1 of 2"),
    event("Other", "2026-11-23T08:30:02Z", "of another set", name="other"),
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, MemoryCluster(namespaces=("default", "shop"), schemas=FreeSchemas()))
    bench.define_ours()
    bench.cluster.seed(job(), CLIQUE, pod(0), pod(1), *EVENTS)
    return bench


def timeline(bench: Bench, *options: str) -> str:
    ended = bench.run("job", "timeline", "sft", "-n", "shop", *options)
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def entries(bench: Bench) -> list[str]:
    """The lines of the table, below the bars."""
    return timeline(bench).rpartition("\n\n")[2].splitlines()


def test_what_happened_is_told_in_order_with_what_it_cost(bench: Bench) -> None:
    lines = entries(bench)
    assert [line.split()[:2] for line in lines[1:3]] == [["2026-11-23T08:00:00Z", "+0s"], ["2026-11-23T08:01:00Z", "+1m"]]
    assert [next(word for word in line.split()[2:] if word[0].isupper()) for line in lines[1:]] == [
        "Created", "AttemptStarted", "AttemptEnded", "PodCliqueFailed", "ReplicaRestarting", "AttemptStarted",
    ]  # fmt: skip
    assert lines[3].endswith(f"pod {FAILED_POD}, container main, exited with 3: loss is NaN; it counts as a restart")


def test_nothing_is_said_of_a_restart_after_the_attempt_that_ended_the_workload(bench: Bench) -> None:
    last = FAILED | {"attempt": 2, "endTime": "2026-11-23T08:40:00Z", "counted": False}
    bench.cluster.seed(job(phase="Failed", completionTime="2026-11-23T08:40:01Z", attempts=[FAILED, last]))
    ends = [line.rpartition("loss is NaN")[2] for line in entries(bench) if "AttemptEnded" in line]
    assert ends == ["; it counts as a restart", ""]


def test_programs_get_the_deadline_and_which_rank_ran_when(bench: Bench) -> None:
    told = json.loads(timeline(bench, "-o", "json"))
    assert (told["phase"], told["restartCount"], told["maxRestarts"], told["deadline"]) == ("Running", 1, 2, "2026-11-23T10:01:00Z")
    assert [(one["rank"], one["attempt"], one["state"]) for one in told["pods"]] == [
        ("sft-0-worker-0", 1, "Ended"), ("sft-0-worker-0", 2, "Running"),
        ("sft-0-worker-1", 1, "Failed"), ("sft-0-worker-1", 2, "Running"),
    ]  # fmt: skip


def test_the_picture_has_a_row_for_each_rank_and_a_bar_for_each_attempt(bench: Bench) -> None:
    picture = ElementTree.fromstring(timeline(bench, "-o", "svg"))
    space = "{http://www.w3.org/2000/svg}"
    rows = [one.text for one in picture.iter(f"{space}text") if "t-name" in str(one.get("class"))]
    bars = [str(title.text).partition(":")[0] for group in picture.iter(f"{space}g") for title in group.iter(f"{space}title")]
    assert rows == ["sft-0-worker-0", "sft-0-worker-1"]
    assert bars == ["attempt 1", "attempt 2"] * 2


def test_a_picture_of_hundreds_of_ranks_has_a_row_for_each_clique(bench: Bench) -> None:
    bench.cluster.seed(made("PodClique", "sft-0-worker", GROVE, spec={"replicas": 400}))
    assert timeline(bench, "-o", "svg").count("400 ranks") == 1


def test_names_cannot_break_the_picture(bench: Bench) -> None:
    bench.cluster.seed(job(attempts=[FAILED | {"cause": "</svg><script>\x1b[2J"}]))
    assert "<script" not in timeline(bench, "-o", "svg")
    ElementTree.fromstring(timeline(bench, "-o", "svg"))


def test_recorded_objects_tell_the_same(bench: Bench) -> None:
    file = bench.file(job(), CLIQUE, pod(0), pod(1), *EVENTS)
    assert timeline(bench, "--snapshot", file, "-o", "json") == timeline(bench, "-o", "json")


@pytest.mark.parametrize("what", ["suspend", "resume", "restart"])
def test_a_service_has_no_such_life(bench: Bench, what: str) -> None:
    bench.cluster.seed(made("PodCliqueSet", "chat", GROVE, labels={}, spec={"replicas": 1}))
    ended = bench.run("job", what, "chat", "-n", "shop")
    assert ended.code == 2
    assert "'chat' is not a training workload" in ended.err
    assert bench.writes() == []


@pytest.mark.parametrize("what", ["timeline", "suspend", "resume", "restart"])
def test_what_is_not_there_is_said_to_be_missing(bench: Bench, what: str) -> None:
    ended = bench.run("job", what, "nope", "-n", "shop")
    assert (ended.code, ended.err) == (2, "grove: there is no PodCliqueSet 'nope' in the namespace shop\n")


def test_a_job_is_suspended_and_resumed_by_one_field(bench: Bench) -> None:
    assert bench.run("job", "suspend", "pcs/sft", "-n", "shop").out == "podcliqueset.grove.io/sft suspended\n"
    assert bench.find("PodCliqueSet", "sft", group="grove.io")["spec"]["suspend"] is True
    assert bench.run("job", "suspend", "sft", "-n", "shop").out == "podcliqueset.grove.io/sft already suspended\n"
    assert bench.run("job", "resume", "sft", "-n", "shop").out == "podcliqueset.grove.io/sft resumed\n"
    spec = bench.find("PodCliqueSet", "sft", group="grove.io")["spec"]
    assert spec == {**job()["spec"], "suspend": False}
    assert bench.writes() == ["apply sft", "apply sft"]


def test_of_a_job_whose_edit_is_held_it_is_said_that_nothing_happens_yet(bench: Bench) -> None:
    held = {"type": "Stalled", "status": "True", "reason": "Held", "message": "spec.replicas: wrong"}
    bench.cluster.seed(job(conditions=[held]))
    ended = bench.run("job", "suspend", "sft", "-n", "shop")
    note = "its spec has errors, and this takes effect once they are fixed: grove why sft\n"
    assert (ended.code, ended.out, note in ended.err) == (0, "podcliqueset.grove.io/sft suspended\n", True)


def test_a_restart_is_asked_for_by_its_time(bench: Bench) -> None:
    assert bench.run("job", "restart", "sft", "-n", "shop").out == "podcliqueset.grove.io/sft restarted\n"
    spec = bench.find("PodCliqueSet", "sft", group="grove.io")["spec"]
    assert spec["trainingSpec"]["restartedAt"] > "2026"
    assert bench.writes() == ["apply sft"]


def test_a_dry_run_writes_nothing(bench: Bench) -> None:
    ended = bench.run("job", "suspend", "sft", "-n", "shop", "--dry-run")
    assert ended.out == "podcliqueset.grove.io/sft suspended (dry run)\n"
    assert bench.writes() == []


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
@pytest.mark.parametrize("what", ["suspend", "resume", "restart"])
def test_what_has_ended_stays_so(bench: Bench, phase: str, what: str) -> None:
    bench.cluster.seed(job(phase=phase))
    ended = bench.run("job", what, "sft", "-n", "shop")
    assert ended.code == 2
    assert f"'sft' has {phase.lower()}" in ended.err
    assert ("kubectl replace --force" in ended.err) is (what == "restart")
    assert bench.writes() == []


def test_a_suspended_job_is_resumed_and_not_restarted(bench: Bench) -> None:
    bench.run("job", "suspend", "sft", "-n", "shop")
    ended = bench.run("job", "restart", "sft", "-n", "shop")
    assert (ended.code, "grove job resume sft" in ended.err) == (2, True)


def test_of_several_names_each_is_carried_out_that_can_be(bench: Bench) -> None:
    ended = bench.run("job", "suspend", "nope", "sft", "-n", "shop")
    assert (ended.code, ended.out) == (2, "podcliqueset.grove.io/sft suspended\n")
