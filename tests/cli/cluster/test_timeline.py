"""`grove timeline`: what happened to a service, from its objects, and from events about pods that are gone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from applier.cluster import Listing, Resource
from applier.errors import Forbidden
from applier.ref import Manifest
from applier.testing.memory import MemoryCluster
from grove_cli.queries.timeline.chart import MAX_MARKS
from grove_cli.terminal import NARROWEST, Terminal
from grove_compiler.model import names
from tests.applier.free_schemas import FreeSchemas
from tests.cli.running import run

from .in_memory import Bench

GROVE, SCHEDULER = "grove.io/v1alpha1", "scheduler.grove.io/v1alpha1"
PART = {"app.kubernetes.io/part-of": "chat", "grove.io/podcliqueset-replica-index": "0"}
IN_GANG = PART | {"grove.io/podgang": "chat-0"}
DAY = "2026-11-23T"
FORMER = names.pod("chat-0-web", 1, lambda _: False)


def made(kind: str, name: str, api: str = "v1", at: str = "08:00:00", **rest: Any) -> Manifest:
    more = rest.pop("metadata", {})
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": f"uid-{name}",
        "labels": rest.pop("labels", PART),
        "creationTimestamp": f"{DAY}{at}Z",
    }
    return {"apiVersion": api, "kind": kind, "metadata": metadata | more, **rest}


def service(name: str = "chat", **status: Any) -> Manifest:
    return made("PodCliqueSet", name, GROVE, labels={}, spec={"replicas": 1}, status={"availableReplicas": 1, **status})


def pod(index: int, at: str, started: str = "", **spec: Any) -> Manifest:
    state = {"running": {"startedAt": f"{DAY}{started}Z"}} if started else {"waiting": {"reason": "ContainerCreating"}}
    status = {"phase": "Running" if started else "Pending", "containerStatuses": [{"name": "main", "state": state}]}
    return made("Pod", f"chat-0-web-p{index}", at=at, labels=IN_GANG, spec={"hostname": f"chat-0-web-{index}", **spec}, status=status)


def event(reason: str, at: str, message: str, kind: str = "PodCliqueSet", name: str = "chat", **more: Any) -> Manifest:
    about = {"kind": kind, "name": name, "uid": f"uid-{name}"}
    count = {"lastTimestamp": f"{DAY}{at}Z", "message": message, "reason": reason, "type": "Normal", **more}
    return made("Event", f"{name}.{reason}.{at}".replace(":", "-").lower(), labels={}, involvedObject=about, **count)


def revision(number: int, at: str, image: str) -> Manifest:
    template = {"podSpec": {"containers": [{"name": "main", "image": image}]}}
    owner = {"apiVersion": GROVE, "kind": "PodCliqueSet", "name": "chat", "uid": "uid-chat", "controller": True}
    data = {"cliques": [{"name": "web", "template": template}]}
    return made("ControllerRevision", f"chat-{number}", "apps/v1", at, metadata={"ownerReferences": [owner]}, revision=number, data=data)


def gang(at: str) -> Manifest:
    condition = {"type": "Initialized", "status": "True", "lastTransitionTime": f"{DAY}{at}Z"}
    return made("PodGang", "chat-0", SCHEDULER, spec={"podgroups": []}, status={"conditions": [condition]})


CLIQUE = made("PodClique", "chat-0-web", GROVE, spec={"replicas": 2})
OBJECTS = [
    service(),
    service("chat-0"),  # has parts whose names look like those of `chat`
    CLIQUE,
    gang("08:00:20"),
    pod(0, "08:00:00", "08:01:00"),
    pod(1, "08:31:00", "08:32:00"),
    revision(1, "08:00:00", "web:1"),
    revision(2, "08:30:00", "web:2"),
    event("UpdateStarted", "08:30:00", "Updating pods to generation abc"),
    event("UpdateEnded", "08:33:00", "All pods are at generation abc"),
    event("GangTerminated", "08:40:00", "Restarting replica 0", "PodClique", "chat-0-web", type="Warning"),
    event("SuccessfulRescale", "08:50:00", "New size: 2; reason: above target", "HorizontalPodAutoscaler", "chat-0-web"),
    event("Scheduled", "08:00:25", "assigned", "Pod", FORMER),
    event("Started", "08:01:30", "started", "Pod", FORMER),
    event("Killing", "08:30:40", "stopping", "Pod", FORMER),
    event("Pulled", "08:01:10", "pulled an image", "Pod", "chat-0-web-p0"),
    event("UpdateStarted", "08:02:00", "of another set", name="chat-0"),
    event("GangTerminated", "08:03:00", "of another set", "PodClique", "chat-0-0-web"),
    event("UpdateStarted", "07:00:00", "of a former set of this name")
    | {"involvedObject": {"kind": "PodCliqueSet", "name": "chat", "uid": "old"}},
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, MemoryCluster(namespaces=("default", "shop"), schemas=FreeSchemas()))
    bench.define_ours()
    bench.cluster.seed(*OBJECTS)
    return bench


def timeline(bench: Bench, *options: str) -> str:
    ended = bench.run("timeline", "chat", "-n", "shop", *options)
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def told(bench: Bench, *options: str) -> Any:
    return json.loads(timeline(bench, "-o", "json", *options))


def test_everything_that_happened_is_told_by_time_and_nothing_of_other_sets(bench: Bench) -> None:
    assert [(moment["time"][11:19], moment["what"], moment["message"]) for moment in told(bench)["moments"]] == [
        ("08:00:00", "Created", "the set was created"),
        ("08:00:20", "GatesOpened", "chat-0: all pods exist"),
        ("08:30:00", "UpdateStarted", "Updating pods to generation abc"),
        ("08:30:00", "Revision", "2: web: containers[main].image web:1 -> web:2"),
        ("08:33:00", "UpdateEnded", "All pods are at generation abc"),
        ("08:40:00", "GangTerminated", "chat-0-web: Restarting replica 0"),
        ("08:50:00", "SuccessfulRescale", "chat-0-web: New size: 2; reason: above target"),
    ]


def test_a_former_pod_is_known_by_its_events_and_has_the_index_of_its_name(bench: Bench) -> None:
    known = [(one["rank"], one["attempt"], one["state"], one["created"][11:19], one.get("ended", "")[11:19]) for one in told(bench)["pods"]]
    assert known == [
        ("chat-0-web-0", 1, "Running", "08:00:00", ""),
        ("chat-0-web-1", 1, "Ended", "08:00:25", "08:30:40"),
        ("chat-0-web-1", 2, "Running", "08:31:00", ""),
    ]


def test_a_former_pod_that_nobody_told_to_start_ran_since_it_was_scheduled(bench: Bench) -> None:
    without = [each for each in OBJECTS if each.get("reason") not in ("Killing", "Started")]
    assert told(bench, "--snapshot", bench.file(*without))["pods"][1]["started"] == f"{DAY}08:00:25Z"


def test_names_that_are_too_long_lose_what_they_share(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_cli.terminal.terminal_of", lambda _: Terminal(colours=False, width=NARROWEST, wraps=True))
    lines = timeline(bench, "--snapshot", bench.file(*OBJECTS)).splitlines()
    assert [line.split()[0] for line in lines if line.startswith("…")] == []
    long = [pod(index, "08:00:00", "08:01:00") for index in (0, 1)]
    for each in long:
        each["spec"]["hostname"] = f"chat-0-a-very-long-name-of-a-clique-{each['spec']['hostname'][-1]}"
    lines = timeline(bench, "--snapshot", bench.file(service(), *long)).splitlines()
    assert [line.split()[0] for line in lines if line.startswith("…")] == ["…-0", "…-1"]


def test_a_former_pod_that_nobody_saw_end_ended_when_its_successor_was_made(bench: Bench) -> None:
    without = [each for each in OBJECTS if each.get("reason") != "Killing"]
    pods = told(bench, "--snapshot", bench.file(*without))["pods"]
    assert pods[1]["ended"] == f"{DAY}08:31:00Z"


def test_a_pod_is_gated_until_its_gang_is_complete(bench: Bench) -> None:
    bench.cluster.seed(pod(2, "08:00:05", schedulingGates=[{"name": "grove.io/podgang-pending-creation"}]))
    opened = [one.get("gatesOpened", "never")[-9:] for one in told(bench)["pods"]]
    assert opened == ["08:00:20Z", "08:00:25Z", "08:31:00Z", "never"]


def test_the_status_tells_of_an_update_when_its_events_are_gone(bench: Bench) -> None:
    progress = {"updateStartedAt": f"{DAY}08:30:00Z", "updateEndedAt": f"{DAY}08:33:01Z"}
    kept = [each for each in OBJECTS if not str(each.get("reason")).startswith("Update")]
    file = bench.file(service(updateProgress=progress), *kept[1:])
    updates = [(one["time"][11:19], one["what"]) for one in told(bench, "--snapshot", file)["moments"] if "Update" in one["what"]]
    assert updates == [("08:30:00", "UpdateStarted"), ("08:33:01", "UpdateEnded")]
    bench.cluster.seed(service(updateProgress=progress))  # beside the events it is told once
    assert [one["what"] for one in told(bench)["moments"]].count("UpdateEnded") == 1


def test_the_picture_has_a_row_for_updates_and_for_each_pod_and_marks_what_happens_at_once(bench: Bench) -> None:
    picture = timeline(bench, "-o", "svg")
    texts = [str(one.text) for one in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in ("updates", "chat-0-web-0", "chat-0-web-1")] == ["updates", "chat-0-web-0", "chat-0-web-1"]
    assert {"gang of replica 0 terminated", "chat-0-web scaled to 2", "gated, until its gang is complete"} <= set(texts)


def test_of_many_marks_the_last_are_shown_and_the_others_counted(bench: Bench) -> None:
    terminations = [event("GangTerminated", f"08:41:{second:02d}", "again", "PodClique", "chat-0-web") for second in range(MAX_MARKS)]
    bench.cluster.seed(*terminations)
    picture = timeline(bench, "-o", "svg")
    assert picture.count("gang of replica 0 terminated") == MAX_MARKS - 1
    assert "2 earlier marks are left out" in picture


@pytest.mark.parametrize("columns", [NARROWEST, 100])
def test_lines_are_no_wider_than_the_terminal(bench: Bench, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_cli.terminal.terminal_of", lambda _: Terminal(colours=False, width=columns, wraps=True))
    lines = timeline(bench, "--snapshot", bench.file(*OBJECTS)).partition("\n\n")[0].splitlines()
    assert lines[0] == "chat: 1 of 1 replica available"
    assert max(map(len, lines)) <= columns
    assert any("█" in line and "▓" in line for line in lines if line.startswith("chat-0-"))


def test_a_terminal_gets_colours_and_the_same_letters(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for colours in (False, True):
        monkeypatch.setattr("grove_cli.terminal.terminal_of", lambda _, colours=colours: Terminal(colours, 100, wraps=True))
        drawn.append(timeline(bench, "--snapshot", bench.file(*OBJECTS)))
    plain, coloured = drawn
    assert "\x1b[36m" in coloured and "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_only_the_time_that_is_asked_for_is_shown(bench: Bench) -> None:
    file = bench.file(*OBJECTS)
    recent = told(bench, "--snapshot", file, "--since", "15m")
    assert [one["what"] for one in recent["moments"]] == ["GangTerminated", "SuccessfulRescale"]
    assert len(recent["pods"]) == 2
    assert "+15m" in timeline(bench, "--snapshot", file, "--since", "15m")


def test_recorded_objects_tell_the_same_as_a_cluster(bench: Bench) -> None:
    assert told(bench, "--snapshot", bench.file(*OBJECTS)) == told(bench)


def test_of_a_time_that_is_none_the_next_best_is_taken(bench: Bench) -> None:
    broken = event("Odd", "soon", "at no time", "PodClique", "chat-0-web")
    started = pod(2, "08:00:05", "soon")
    file = bench.file(*OBJECTS, broken, started)
    times = {one["what"]: one["time"] for one in told(bench, "--snapshot", file)["moments"]}
    assert times["Odd"] == f"{DAY}08:00:00Z"
    assert [one.get("started") for one in told(bench, "--snapshot", file)["pods"]][-1] is None


def test_a_part_of_a_set_has_no_timeline_of_its_own(bench: Bench) -> None:
    ended = bench.run("timeline", "pclq/chat-0-web", "-n", "shop")
    assert (ended.code, ended.err) == (2, "grove: 'pclq/chat-0-web' is not a PodCliqueSet: expected its name\n")
    assert run("timeline", "pclq/chat-0-web", "--snapshot", bench.file(*OBJECTS)).err == ended.err


class OneSet(MemoryCluster):
    """A cluster in which one set may be read, and neither the others nor revisions."""

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        if resource.kind.kind in ("PodCliqueSet", "ControllerRevision"):
            raise Forbidden(403, "Forbidden", f"may not list {resource.plural}")
        return await super().list(resource, namespace, labels=labels, fields=fields)


def test_what_may_not_be_read_is_told_beside_what_may(tmp_path: Path) -> None:
    bench = Bench(tmp_path, OneSet(namespaces=("default", "shop"), schemas=FreeSchemas()))
    bench.define_ours()
    bench.cluster.seed(*OBJECTS)
    ended = bench.run("timeline", "chat", "-n", "shop", "-o", "json")
    assert ended.code == 0
    assert sorted(ended.err.splitlines()) == [
        "grove: not read: ControllerRevision.apps: may not list controllerrevisions",
        "grove: not read: PodCliqueSet.grove.io: may not list podcliquesets",
    ]
    assert {"GangTerminated", "UpdateEnded"} <= {one["what"] for one in json.loads(ended.out)["moments"]}
