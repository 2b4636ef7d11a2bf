"""`grove rollout status`: how far a rollout is, and when it has ended."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from applier.ref import Manifest, Ref
from applier.testing.memory.faults import MemoryRequest
from grove_cli.queries.rollout.progress import progress_of
from grove_cli.rollout.bar import RolloutBar

from .in_memory import Bench, Ended

GROVE = "grove.io/v1alpha1"
BEGUN = {"updateStartedAt": "2026-01-01T00:00:00Z"}
ENDED = {**BEGUN, "updateEndedAt": "2026-01-01T00:05:00Z"}
DONE = 'podcliqueset "chat" successfully rolled out\n'


def chat(available: int = 2, generation: int = 1, annotations: Manifest | None = None, strategy: str = "", **status: Any) -> Manifest:
    metadata = {"name": "chat", "namespace": "shop", "uid": "uid-chat", "generation": generation, "annotations": annotations or {}}
    spec = {"replicas": 2, "template": {"cliques": []}} | ({"updateStrategy": {"type": strategy}} if strategy else {})
    status = {"observedGeneration": 1, "availableReplicas": available, **status}
    return {"apiVersion": GROVE, "kind": "PodCliqueSet", "metadata": metadata, "spec": spec, "status": status}


def clique(name: str, updated: int, ready: int = 4) -> Manifest:
    metadata = {"name": name, "namespace": "shop", "labels": {"app.kubernetes.io/part-of": "chat"}}
    spec, status = {"replicas": 4}, {"updatedReplicas": updated, "readyReplicas": ready}
    return {"apiVersion": GROVE, "kind": "PodClique", "metadata": metadata, "spec": spec, "status": status}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    return bench


def status(bench: Bench, *words: str) -> Ended:
    return bench.run("rollout", "status", "chat", "-n", "shop", *words)


def now(bench: Bench, *manifests: Manifest) -> str:
    """The line about a rollout that goes on, and is looked at once."""
    bench.cluster.seed(*manifests)
    ended = status(bench, "--watch=false")
    assert (ended.code, ended.err) == (1, "")
    return ended.out.removesuffix("...\n")


def in_turn(bench: Bench, *steps: Callable[[], object]) -> None:
    """Takes a step after each look at the PodCliques."""
    waiting, before = list(steps), bench.cluster.before

    async def between(request: MemoryRequest) -> None:
        await before(request)
        if request.verb == "watch" and request.resource.plural == "podcliques":
            while waiting:
                waiting.pop(0)()

    bench.cluster.before = between


@pytest.mark.parametrize("update", [{}, {"updateProgress": ENDED}], ids=["first", "update"])
def test_a_rollout_that_has_ended_is_a_success_at_once(bench: Bench, update: Manifest) -> None:
    bench.cluster.seed(chat(**update), clique("chat-0-front", 4))
    assert status(bench) == (0, DONE, "")
    assert status(bench, "--watch=false") == (0, DONE, "")


def test_pods_are_counted_that_have_the_new_template(bench: Bench) -> None:
    update = {**BEGUN, "currentlyUpdating": [{"replicaIndex": 0, "updateEndedAt": "2026-01-01T00:01:00Z"}, {"replicaIndex": 1}]}
    line = now(bench, chat(updateProgress=update), clique("chat-0-front", 4), clique("chat-1-front", 1))
    assert line == 'Waiting for podcliqueset "chat" rollout to finish: 5 of 8 pods are updated, now in replica 1'


def test_updated_pods_that_are_not_ready_are_what_an_update_waits_for(bench: Bench) -> None:
    update = {**BEGUN, "currentlyUpdating": [{"replicaIndex": 0}]}
    line = now(bench, chat(updateProgress=update), clique("chat-0-front", 4), clique("chat-1-front", 4, ready=3))
    assert line.endswith("rollout to finish: 8 of 8 pods are updated, 7 of 8 are ready")


def test_an_edit_has_to_be_seen_first(bench: Bench) -> None:
    assert now(bench, chat(generation=2, updateProgress=ENDED)) == "Waiting for podcliqueset spec update to be observed"


def test_replicas_have_to_be_available_in_the_end(bench: Bench) -> None:
    line = now(bench, chat(available=1), clique("chat-0-front", 4))
    assert line == 'Waiting for podcliqueset "chat" rollout to finish: 1 of 2 replicas are available'


STALLED = {"type": "Stalled", "status": "True", "reason": "Held", "message": "spec.replicas: wrong"}


def test_an_edit_that_is_held_is_not_rolled_out_though_everything_serves_as_before(bench: Bench) -> None:
    bench.cluster.seed(chat(updateProgress=ENDED, conditions=[STALLED]), clique("chat-0-front", 4))
    line = 'Waiting for podcliqueset "chat" spec update to be fixed... Held: spec.replicas: wrong\n'
    assert status(bench, "--watch=false") == (1, line, "")


def test_what_holds_the_rollout_is_said_with_it(bench: Bench) -> None:
    bench.cluster.seed(chat(available=0, conditions=[{**STALLED, "reason": "Refused", "message": "exceeded quota"}]))
    assert status(bench, "--watch=false").out.endswith("0 of 2 replicas are available... Refused: exceeded quota\n")


def test_a_rollout_that_is_late_is_followed_no_longer(bench: Bench) -> None:
    late = {"type": "UpdateInProgress", "status": "Unknown", "reason": "ProgressDeadlineExceeded", "message": "chat-1-front"}
    bench.cluster.seed(chat(updateProgress=BEGUN, conditions=[late]), clique("chat-0-front", 4, ready=3))
    line = 'podcliqueset "chat" exceeded its progress deadline: 4 of 4 pods are updated, 3 of 4 are ready...\n'
    assert status(bench) == (1, line, "")
    assert json.loads(status(bench, "-o", "json").out)["state"] == "Late"


def test_with_on_delete_pods_are_counted_though_the_operator_is_done(bench: Bench) -> None:
    line = now(bench, chat(strategy="OnDelete", updateProgress=ENDED), clique("chat-0-front", 1))
    assert line.endswith("1 of 4 pods are updated; with OnDelete, pods are updated only when they are deleted")
    bench.cluster.seed(clique("chat-0-front", 4))
    assert status(bench).code == 0


def test_a_pause_is_said(bench: Bench) -> None:
    paused = chat(strategy="OnDelete", annotations={"grove.io/rollout-paused": "null"}, updateProgress=ENDED)
    assert now(bench, paused, clique("chat-0-front", 1)).endswith("1 of 4 pods are updated; it is paused")
    assert json.loads(status(bench, "--watch=false", "-o", "json").out)["state"] == "Paused"


def test_a_rollout_is_followed_until_it_has_ended(bench: Bench) -> None:
    rolling = chat(updateProgress=BEGUN)
    bench.cluster.seed(rolling, clique("chat-0-front", 1))
    in_turn(bench, lambda: bench.cluster.seed(chat(updateProgress=ENDED), clique("chat-0-front", 4)))
    ended = status(bench, "--timeout=60s")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f'Waiting for podcliqueset "chat" rollout to finish: 1 of 4 pods are updated...\n{DONE}'


def test_programs_get_the_end_only(bench: Bench) -> None:
    bench.cluster.seed(chat(updateProgress=BEGUN), clique("chat-0-front", 1))
    in_turn(bench, lambda: bench.cluster.seed(chat(updateProgress=ENDED), clique("chat-0-front", 4)))
    found = json.loads(status(bench, "-o", "json", "--timeout=60s").out)
    assert (found["state"], found["pods"], found["updatedPods"], found["availableReplicas"]) == ("Complete", 4, 4, 2)


def test_a_timeout_ends_the_wait_and_says_what_is_left(bench: Bench) -> None:
    bench.cluster.seed(chat(updateProgress=BEGUN), clique("chat-0-front", 1))
    ended = status(bench, "--timeout", "0.2")
    assert ended.code == 1
    assert "timed out after" in ended.err
    assert "1 of 4 pods are updated" in ended.err


def test_a_set_that_is_deleted_meanwhile_ends_the_wait(bench: Bench) -> None:
    bench.cluster.seed(chat(updateProgress=BEGUN), clique("chat-0-front", 1))
    in_turn(bench, lambda: bench.cluster.garbage.delete(_ref(), "Background", "2026-01-01T00:00:00Z"))
    ended = status(bench, "--timeout=60s")
    assert (ended.code, ended.err) == (2, "grove: there is no PodCliqueSet 'chat' in the namespace shop\n")


@pytest.mark.parametrize("width", [200, 60], ids=["wide", "narrow"])
def test_on_a_terminal_there_is_a_bar_of_updated_pods_on_one_line(width: int) -> None:
    screen = io.StringIO()
    with RolloutBar(Console(file=screen, force_terminal=True, width=width, color_system=None)) as bar:
        bar.show(progress_of(chat(updateProgress=BEGUN), [clique("chat-0-front", 1)]))
    lines = [line for line in re.split(r"[\r\n]|\x1b\[[0-9?]*[A-Za-z]", screen.getvalue()) if "1/4" in line]
    assert lines
    assert {len(line.rstrip()) <= width for line in lines} == {True}
    assert ("1 of 4 pods are updated" in lines[-1]) is (width == 200)


def _ref() -> Ref:
    return Ref("grove.io", "PodCliqueSet", "shop", "chat")
