"""`grove logs`: the logs of a set's pods side by side.

The nodes of the control planes that tests start are played by kwok and have no kubelets, so that no API server there can serve a log. The
cluster in memory takes the texts from the test; `tests/applier/transport/test_texts.py` is about the requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from applier.errors import Invalid, ServerFailure, Unreachable
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory.faults import MemoryRequest
from grove_cli import output as outputs
from grove_cli.cluster.session import Failed
from grove_cli.logs.follow import Follower
from grove_cli.logs.lines import Printer
from grove_cli.queries.log_sources import LogSelection
from grove_cli.terminal import Terminal

from .in_memory import Bench, Ended

RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
WAITING = {"waiting": {"reason": "ContainerCreating"}}


def pod(
    clique: str,
    index: int,
    *,
    replica: int = 0,
    group: str = "",
    state: Manifest = RUNNING,
    containers: Iterable[str] = ("main",),
    **more: Any,
) -> Manifest:
    """A pod of the set `chat`, called by its clique and index."""
    member = {"grove.io/podcliquescalinggroup": f"chat-{replica}-{group}", "grove.io/podcliquescalinggroup-replica-index": "0"}
    place = member if group else {}
    owner = f"chat-{replica}-{group}-0-{clique}" if group else f"chat-{replica}-{clique}"
    labels = {"app.kubernetes.io/part-of": "chat", "grove.io/podcliqueset-replica-index": str(replica), "grove.io/podclique": owner} | place
    statuses = [{"name": name, "state": state, "restartCount": 0, "containerID": f"c-{name}", **more} for name in containers]
    name = f"{owner}-{index}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels},
        "spec": {"containers": [{"name": each} for each in containers], "initContainers": [{"name": "setup"}]},
        "status": {"phase": "Running", "containerStatuses": statuses},
    }


class Kubelets:
    """The logs of containers, by pod and container; an error is raised in the place of a line. `asked` are the queries."""

    def __init__(self) -> None:
        self.logs: dict[tuple[str, str], list[str | Exception]] = {}
        self.asked: list[Mapping[str, str]] = []

    def texts(self, request: MemoryRequest, query: Mapping[str, str]) -> Iterator[bytes]:
        self.asked.append(query)
        for line in self.logs.get((request.name, query["container"]), []):
            if isinstance(line, Exception):
                raise line
            yield line.encode()


@pytest.fixture
def kubelets() -> Kubelets:
    return Kubelets()


@pytest.fixture
def bench(tmp_path: Path, kubelets: Kubelets) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    cliques = [{"name": "front"}, {"name": "decode"}]
    metadata = {"name": "chat", "namespace": "shop"}
    spec = {"template": {"cliques": cliques}}
    bench.cluster.seed({"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec})
    bench.cluster.texts = kubelets.texts
    return bench


def at(second: float, text: str) -> str:
    return f"2026-01-01T00:00:{second:012.9f}Z {text}"


def logs(bench: Bench, *words: str) -> Ended:
    return bench.run("logs", "chat", "-n", "shop", *words)


@pytest.fixture
def two(bench: Bench, kubelets: Kubelets) -> Bench:
    """Two pods that run, of two cliques and replicas."""
    bench.cluster.seed(pod("front", 0), pod("decode", 0, replica=1, group="model"))
    kubelets.logs["chat-0-front-0", "main"] = [at(1, "begun"), at(3.5, "a request")]
    kubelets.logs["chat-1-model-0-decode-0", "main"] = [at(2, "loaded"), at(3.25, "\x1b[31mred\x1b[0m")]
    return bench


def test_lines_of_all_pods_are_shown_by_time_with_their_pod(two: Bench) -> None:
    assert logs(two) == (
        0,
        "chat-0-front-0 begun\nchat-1-model-0-decode-0 loaded\nchat-1-model-0-decode-0 \x1b[31mred\x1b[0m\nchat-0-front-0 a request\n",
        "",
    )


def test_times_are_printed_on_request_and_prefixes_left_out(two: Bench) -> None:
    assert logs(two, "--clique=front", "--timestamps").out.splitlines()[0] == "chat-0-front-0 2026-01-01T00:00:01.000000000Z begun"
    assert logs(two, "--clique=front", "--prefix=false").out == "begun\na request\n"


@pytest.mark.parametrize("words", [("--clique", "decode"), ("--replica", "1")], ids=["clique", "replica"])
def test_pods_are_selected_by_clique_and_by_replica(two: Bench, words: tuple[str, ...]) -> None:
    assert {line.split()[0] for line in logs(two, *words).out.splitlines()} == {"chat-1-model-0-decode-0"}


def test_the_server_is_asked_for_the_end_of_each_log(two: Bench, kubelets: Kubelets) -> None:
    logs(two, "--clique=front")
    logs(two, "--clique=front", "--tail=-1")
    logs(two, "--clique=front", "--since=90s")
    logs(two, "--clique=front", "--since", "1m", "--tail", "3")
    plain = {"container": "main", "timestamps": "true"}
    assert kubelets.asked == [
        plain | {"tailLines": "10"},
        plain,
        plain | {"sinceSeconds": "90"},
        plain | {"tailLines": "3", "sinceSeconds": "60"},
    ]


def test_several_containers_are_told_apart(bench: Bench, kubelets: Kubelets) -> None:
    bench.cluster.seed(pod("front", 0, containers=("main", "proxy")))
    kubelets.logs = {("chat-0-front-0", "main"): [at(1, "a")], ("chat-0-front-0", "proxy"): [at(2, "b")]}
    assert logs(bench).out == "chat-0-front-0/main a\nchat-0-front-0/proxy b\n"
    assert logs(bench, "-c", "proxy").out == "chat-0-front-0/proxy b\n"


def test_pods_without_logs_yet_are_named_and_end_nothing(two: Bench, kubelets: Kubelets) -> None:
    two.cluster.seed(*(pod("front", index, state=WAITING) for index in range(1, 6)))
    ended = logs(two, "--clique=front")
    assert (ended.code, len(ended.out.splitlines())) == (0, 2)
    named = ", ".join(f"chat-0-front-{index}/main (ContainerCreating)" for index in (1, 2, 3))
    assert ended.err == f"grove: no logs yet: {named} and 2 more\n"


def test_a_container_that_the_server_calls_waiting_ends_nothing_either(two: Bench, kubelets: Kubelets) -> None:
    kubelets.logs["chat-0-front-0", "main"] = [Invalid(400, "BadRequest", "it is waiting to start")]
    ended = logs(two)
    assert (ended.code, len(ended.out.splitlines())) == (0, 2)
    assert "no logs yet: chat-0-front-0/main (it is waiting to start)" in ended.err


def test_a_log_that_cannot_be_read_fails_after_the_others(two: Bench, kubelets: Kubelets) -> None:
    kubelets.logs["chat-0-front-0", "main"] = [ServerFailure(500, "InternalError", "no route to the node")]
    ended = logs(two)
    assert (ended.code, ended.err) == (2, "grove: pod/chat-0-front-0: no route to the node\n")
    assert len(ended.out.splitlines()) == 2


def test_one_reason_is_said_once(two: Bench, kubelets: Kubelets) -> None:
    for log in kubelets.logs.values():
        log[:] = [ServerFailure(500, "InternalError", "no kubelet")]
    assert logs(two).err == "grove: pod/chat-0-front-0, pod/chat-1-model-0-decode-0: no kubelet\n"


def test_the_life_before_a_restart_is_shown_of_those_that_had_one(bench: Bench, kubelets: Kubelets) -> None:
    bench.cluster.seed(pod("front", 0, restartCount=1), pod("front", 1))
    kubelets.logs["chat-0-front-0", "main"] = [at(1, "out of memory")]
    ended = logs(bench, "--previous")
    assert ended.out == "chat-0-front-0 out of memory\n"
    assert ended.err == "grove: no logs of previous containers: chat-0-front-1/main (was not restarted)\n"
    assert kubelets.asked[0]["previous"] == "true"


def test_a_set_without_pods_is_no_error(bench: Bench) -> None:
    assert logs(bench) == (0, "", "grove: no pods of PodCliqueSet 'chat' found\n")


WRONG = {
    "--clique=nope": "PodCliqueSet 'chat' has no clique 'nope': it has front, decode",
    "--container=nope": "no pod has a container 'nope': there are main, setup",
    "-c ": "the value is empty",
    "--tail=-2": "-2 is not in the range x>=-1",
    "--tail=all": "'all' is not a valid integer",
    "--since=soon": "--since",
    "--since=0": "'0' is not a valid duration",
    "--replica=-1": "-1 is not in the range x>=0",
    "-f --previous": "Logs of previous containers cannot be followed",
    "--max-log-requests=0": "0 is not in the range x>=1",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_meant_is_refused(two: Bench, words: str) -> None:
    ended = logs(two, *words.split(" "))
    assert (ended.code, ended.out) == (2, "")
    assert WRONG[words] in ended.err


def test_a_set_that_is_not_there_is_said_to_be_missing(bench: Bench) -> None:
    ended = bench.run("logs", "nope", "-n", "shop")
    assert (ended.code, ended.err) == (2, "grove: there is no PodCliqueSet 'nope' in the namespace shop\n")


# -- followed


class Screen:
    """What has been printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.text = ""
        monkeypatch.setattr(outputs, "write", self._write)

    def _write(self, chunks: Iterable[bytes]) -> None:
        self.text += b"".join(chunks).decode()

    async def shows(self, wanted: Callable[[str], bool]) -> None:
        async with asyncio.timeout(60):
            while not wanted(self.text):
                await asyncio.sleep(0.01)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setattr("grove_cli.logs.follow.FIRST_WAIT", 0.01)
    return Screen(monkeypatch)


async def following(bench: Bench, **options: Any) -> asyncio.Task[int]:
    pods = await bench.cluster.resource(Kind("", "v1", "Pod"))
    printer = Printer(timestamps=False, prefix=True)
    limit = options.pop("limit", 50)
    follower = Follower(bench.cluster, pods, "shop", LogSelection("chat", **options), {"tailLines": "10"}, printer, limit)
    return asyncio.ensure_future(follower.run())


async def ended(task: asyncio.Task[int]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_pods_that_come_later_are_followed(two: Bench, kubelets: Kubelets, screen: Screen) -> None:
    task = await following(two)
    await screen.shows(lambda text: text.count("\n") == 4)
    two.cluster.seed(pod("front", 1, state=WAITING))
    kubelets.logs["chat-0-front-1", "main"] = [at(9, "here I am")]
    two.cluster.seed(pod("front", 1))
    await screen.shows(lambda text: "chat-0-front-1 here I am\n" in text)
    await ended(task)
    assert [query.get("tailLines") for query in kubelets.asked if "sinceTime" not in query] == ["10", "10", None]


async def test_a_log_that_breaks_off_goes_on_where_it_was(bench: Bench, kubelets: Kubelets, screen: Screen) -> None:
    bench.cluster.seed(pod("front", 0))
    log: list[str | Exception] = [at(1, "one"), at(2, "two"), Unreachable("broken")]
    kubelets.logs["chat-0-front-0", "main"] = log
    task = await following(bench)
    await screen.shows(lambda text: "two" in text)
    log[2:] = [at(3, "three")]
    await screen.shows(lambda text: "three" in text)
    await ended(task)
    assert screen.text == "chat-0-front-0 one\nchat-0-front-0 two\nchat-0-front-0 three\n"
    assert "2026-01-01T00:00:02.000000000Z" in {query.get("sinceTime") for query in kubelets.asked}


async def test_a_container_that_was_restarted_is_followed_again(bench: Bench, kubelets: Kubelets, screen: Screen) -> None:
    bench.cluster.seed(pod("front", 0, state={"terminated": {"exitCode": 1}}))
    kubelets.logs["chat-0-front-0", "main"] = [at(1, "first")]
    task = await following(bench)
    await screen.shows(lambda text: "first" in text)
    kubelets.logs["chat-0-front-0", "main"] = [at(2, "second")]
    bench.cluster.seed(pod("front", 0, restartCount=1, containerID="another"))
    await screen.shows(lambda text: "second" in text)
    await ended(task)


async def test_a_pod_that_goes_ends_nothing(two: Bench, kubelets: Kubelets, screen: Screen) -> None:
    task = await following(two)
    await screen.shows(lambda text: text.count("\n") == 4)
    two.cluster.garbage.delete(Ref("", "Pod", "shop", "chat-0-front-0"), "Background", "2026-01-01T00:00:00Z")
    kubelets.logs["chat-1-model-0-decode-0", "main"].append(at(8, "still here"))
    await screen.shows(lambda text: "still here" in text)
    await ended(task)


async def test_too_many_logs_are_refused(two: Bench, screen: Screen) -> None:
    task = await following(two, limit=1)
    with pytest.raises(Failed, match="more than 1 log would be followed: select fewer, or increase --max-log-requests"):
        await task


async def test_pods_are_waited_for(bench: Bench, kubelets: Kubelets, screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    task = await following(bench)
    while not capsys.readouterr().err.startswith("grove: no pods of PodCliqueSet 'chat' found yet; waiting for them"):
        await asyncio.sleep(0.01)
    kubelets.logs["chat-0-front-0", "main"] = [at(1, "one")]
    bench.cluster.seed(pod("front", 0))
    await screen.shows(lambda text: "one" in text)
    await ended(task)


async def test_a_reader_that_has_gone_ends_it(two: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(chunks: Iterable[bytes]) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(outputs, "write", gone)
    with pytest.raises(BrokenPipeError):
        await (await following(two))


def test_on_a_terminal_each_pod_has_a_colour(two: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_cli.logs.lines.terminal_of", lambda _: Terminal(colours=True, width=80, wraps=True))
    first, second = logs(two).out.splitlines()[:2]
    assert first == "\x1b[36mchat-0-front-0\x1b[0m begun"
    assert second.startswith("\x1b[33mchat-1-model-0-decode-0\x1b[0m ")
