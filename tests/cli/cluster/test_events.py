"""`grove events`: what the operator told, in order and folded."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from applier.desired import EventWrite, ObjectReference
from applier.events import nowhere
from applier.loop.status import EventRecorder
from applier.ref import EVENT, Kind, Manifest, Ref
from grove_cli import output as outputs
from grove_cli.events.as_text import events_text
from grove_cli.events.read import event_query, follow
from grove_cli.queries.events_query import KINDS, EventLine, aggregated, event_subject
from grove_cli.queries.tree_query import NoSuchObject
from grove_cli.terminal import Terminal
from grove_compiler.kube.timestamp import timestamp
from tests.suite.rows import rows

from .in_memory import Bench

NOW = 1_800_000_000.0
PLAIN = Terminal(colours=False, width=200, wraps=False)


def event(name: str, of: str, reason: str, *, ago: int = 60, count: int = 1, first: int | None = None, **rest: object) -> Manifest:
    """An event that the operator told so many seconds ago."""
    kind, _, called = of.partition("/")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "shop"},
        "involvedObject": {"kind": kind, "namespace": "shop", "name": called, "uid": called},
        "type": "Normal",
        "reason": reason,
        "message": f"{reason} it is",
        "source": {"component": "grove-operator"},
        "firstTimestamp": timestamp(NOW - (first or ago)),
        "lastTimestamp": timestamp(NOW - ago),
        "count": count,
        **rest,
    }


SET: Manifest = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "spec": {"replicas": 1}}
EVENTS = [
    event("b", "PodClique/chat-0-web", "Scaled", ago=30, type="Warning"),
    event("a", "PodCliqueSet/chat", "Held", ago=90),
    event("c", "Pod/chat-0-web-x2", "Replaced", ago=10),
    event("d", "PodClique/chat-0-0-web", "Scaled", ago=5),
    event("e", "PodCliqueSet/other", "Held", ago=2),
    event("k", "Pod/chat-0-web-x2", "Scheduled", ago=1, source={"component": "kube-scheduler"}),
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(*({**SET, "metadata": {"name": name, "namespace": "shop"}} for name in ("chat", "chat-0", "other")), *EVENTS)
    return bench


def objects(bench: Bench, *arguments: str) -> list[str]:
    ended = bench.run("events", *arguments, "-n", "shop", "-o", "json")
    assert ended.code == 0, ended.err
    return [f"{one['kind']}/{one['name']}" for one in json.loads(ended.out)]


def test_the_last_stands_at_the_end_and_what_others_told_is_left_out(bench: Bench) -> None:
    names = ["PodCliqueSet/chat", "PodClique/chat-0-web", "Pod/chat-0-web-x2", "PodClique/chat-0-0-web", "PodCliqueSet/other"]
    assert objects(bench) == names


def test_a_set_is_told_of_with_all_that_is_of_it_and_nothing_of_another(bench: Bench) -> None:
    assert objects(bench, "chat") == ["PodCliqueSet/chat", "PodClique/chat-0-web", "Pod/chat-0-web-x2"]
    assert objects(bench, "pcs/chat-0") == ["PodClique/chat-0-0-web"]


def test_another_object_is_told_of_alone(bench: Bench) -> None:
    assert objects(bench, "pclq/chat-0-web") == ["PodClique/chat-0-web"]


def test_types_limit_what_is_shown(bench: Bench) -> None:
    assert objects(bench, "--types", "warning") == ["PodClique/chat-0-web"]
    assert len(objects(bench, "--types=Warning,Normal")) == 5


def test_a_wrong_type_is_told(bench: Bench) -> None:
    ended = bench.run("events", "--types", "Error")
    assert ended.code == 2
    assert "'error' is not a type of event: expected Normal or Warning." in ended.err


def test_people_get_the_columns_of_kubectl(bench: Bench) -> None:
    ended = bench.run("events", "chat", "-n", "shop")
    head, *lines = ended.out.splitlines()
    assert head.split("   ")[0] == "LAST SEEN"
    assert head.split()[2:] == ["TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert [line.split()[-4] for line in lines] == ["podcliqueset/chat", "podclique/chat-0-web", "pod/chat-0-web-x2"]


def test_all_namespaces_are_named(bench: Bench) -> None:
    head, *lines = bench.run("events", "-A").out.splitlines()
    assert head.startswith("NAMESPACE")
    assert {line.split()[0] for line in lines} == {"shop"}


def test_nothing_told_is_said_beside_the_output(bench: Bench) -> None:
    ended = bench.run("events", "pg/none", "-n", "shop")
    assert (ended.code, ended.out) == (0, "")
    assert "No events found" in ended.err
    assert bench.run("events", "pg/none", "-n", "shop", "-o", "json").out == "[]\n"


def test_recorded_objects_tell_the_same(bench: Bench) -> None:
    path = bench.file(*({**SET, "metadata": {"name": name, "namespace": "shop"}} for name in ("chat", "chat-0", "other")), *EVENTS)
    for asked in ((), ("chat",), ("po/chat-0-web-x2",)):
        assert objects(bench, *asked, "--snapshot", path) == objects(bench, *asked)


def test_a_file_cannot_be_watched(bench: Bench) -> None:
    assert "Objects in a file do not change" in bench.run("events", "--snapshot", bench.file(*EVENTS), "-w").err


def test_a_kind_that_is_never_told_of_is_refused(bench: Bench) -> None:
    ended = bench.run("events", "svc/chat")
    assert ended.code == 2
    assert "'svc' is not a kind that the operator records events on: expected one of PodCliqueSet," in ended.err


@rows("kind", KINDS)
def test_every_kind_may_be_asked_about_as_kubectl_writes_it(kind: str) -> None:
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    assert {event_subject(f"{word}/a") for word in (kind, kind.lower(), plural, plural.lower(), f"{plural.lower()}.grove.io")} == {
        (kind, "a")
    }


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(NoSuchObject, match="is not an object"):
        event_subject("pcs/")


async def test_of_a_topology_events_are_looked_for_where_they_lie(bench: Bench) -> None:
    assert (await event_query(bench.cluster, "clustertopology/a", "shop", ())).namespace == "default"


async def test_what_the_operator_writes_is_what_is_read(bench: Bench) -> None:
    recorder = EventRecorder(bench.cluster, source="grove-operator", sink=nowhere)
    kind = Kind("grove.io", "v1alpha1", "PodCliqueSet")
    of = ObjectReference(kind, Ref("grove.io", "PodCliqueSet", "shop", "fresh"), "uid")
    await recorder.write([EventWrite(of, "Warning", "Held", "a rule fails")])
    found = await bench.cluster.list(await bench.cluster.resource(EVENT), "shop")
    [told] = [one for one in aggregated(found.items) if one.name == "fresh"]
    assert (told.type, told.reason, told.message, told.count) == ("Warning", "Held", "a rule fails", 1)


# -- folded


def test_one_reason_of_one_object_is_one_line_with_the_last_words() -> None:
    events = [
        event("a", "PodCliqueSet/chat", "Held", ago=90, count=2, first=300, message="first"),
        event("b", "PodCliqueSet/chat", "Held", ago=20, message="last"),
        event("c", "PodCliqueSet/chat", "Refused", ago=40),
        event("d", "PodCliqueSet/next", "Held", ago=50),
    ]
    told = aggregated(events)
    assert [(one.name, one.reason, one.count) for one in told] == [("next", "Held", 1), ("chat", "Refused", 1), ("chat", "Held", 3)]
    assert (told[-1].message, told[-1].first, told[-1].last) == ("last", NOW - 300, NOW - 20)


def test_an_object_that_was_made_anew_is_another_one() -> None:
    again = event("b", "PodCliqueSet/chat", "Held")
    again["involvedObject"] = {**again["involvedObject"], "uid": "another"}
    assert [one.count for one in aggregated([event("a", "PodCliqueSet/chat", "Held"), again])] == [1, 1]


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({}, "1m"),
        ({"count": 3, "firstTimestamp": timestamp(NOW - 600)}, "1m (x3 over 10m)"),
        ({"firstTimestamp": None, "lastTimestamp": None, "eventTime": timestamp(NOW - 5)}, "5s"),
        ({"firstTimestamp": None, "lastTimestamp": None}, "<unknown>"),
        ({"firstTimestamp": "soon", "lastTimestamp": "soon", "count": "many"}, "<unknown>"),
    ],
    ids=["once", "often", "of-the-newer-api", "without-times", "of-a-careless-file"],
)
def test_a_line_says_when_as_kubectl_does(change: Manifest, seen: str) -> None:
    told = aggregated([{**event("a", "PodCliqueSet/chat", "Held"), **change}])
    line = events_text(told, NOW, PLAIN, with_namespaces=False).splitlines()[1]
    assert line.split("   ")[0] == seen


def test_a_message_breaks_no_line() -> None:
    told = [EventLine("shop", "Pod", "a", "Normal", "Seen", "one\ntwo\x1b[31m", 1, NOW, NOW)]
    text = events_text(told, NOW, PLAIN, with_namespaces=False)
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text


# -- watched


@pytest.mark.parametrize("output", ["text", "json"])
async def test_what_comes_is_told_as_it_comes(bench: Bench, monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    written: list[str] = []

    def write(chunks: Iterable[bytes]) -> None:
        written.append(b"".join(chunks).decode())

    monkeypatch.setattr(outputs, "write", write)
    task = asyncio.ensure_future(follow(bench.cluster, await event_query(bench.cluster, "chat", "shop", ()), output))
    await shows(written, lambda text: "chat-0-web-x2" in text)
    now: dict[str, Any] = {"lastTimestamp": timestamp(time.time())}
    bench.cluster.seed(event("new", "PodCliqueSet/other", "Late", **now), event("new2", "PodCliqueSet/chat", "Late", **now))
    await shows(written, lambda text: text.count("Late it is") == 1)
    bench.cluster.seed(event("new2", "PodCliqueSet/chat", "Late", **now, count=2))
    await shows(written, lambda text: text.count("Late it is") == 2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    last = "".join(written).splitlines()[-1]
    assert json.loads(last)["count"] == 2 if output == "json" else "(x2 over" in last


async def shows(written: list[str], wanted: Callable[[str], bool]) -> None:
    async with asyncio.timeout(60):
        while not wanted("".join(written)):
            await asyncio.sleep(0.01)
