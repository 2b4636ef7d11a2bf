"""A kind whose definition was created after a command had asked what is served is found by the next one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from applier.cluster import Resource
from applier.ref import Kind
from grove_cli.queries.tree_query import NoSuchObject, served_kinds

from .in_memory import Bench

POD = Resource(Kind("", "v1", "Pod"), "pods", True, frozenset(), frozenset())
SETS = Resource(Kind("grove.io", "v1alpha1", "PodCliqueSet"), "podcliquesets", True, frozenset(), frozenset())


class Remembering:
    """A cluster that remembers what was served, until it is asked anew. `asked` counts that."""

    def __init__(self, *now: Resource) -> None:
        self.known, self.now, self.asked = [POD], [POD, *now], 0

    async def resources(self, *, fresh: bool = False) -> list[Resource]:
        if fresh:
            self.known, self.asked = self.now, self.asked + 1
        return self.known


def kinds(cluster: Remembering, *words: str) -> list[str]:
    found, resources = asyncio.run(served_kinds(cluster, *words))  # type: ignore[arg-type]
    assert resources == cluster.known
    return [one.plural for one in found]


def test_a_new_kind_is_found() -> None:
    cluster = Remembering(SETS)
    assert kinds(cluster, "pcs", "pods") == ["podcliquesets", "pods"]
    assert cluster.asked == 1


def test_a_known_kind_costs_no_request() -> None:
    cluster = Remembering(SETS)
    assert kinds(cluster, "pod") == ["pods"]
    assert cluster.asked == 0


def test_a_kind_that_is_still_not_there_is_asked_for_once() -> None:
    cluster = Remembering()
    with pytest.raises(NoSuchObject, match="Grove's CRDs are not installed"):
        kinds(cluster, "pcs")
    assert cluster.asked == 1


COMMANDS = [["why", "chat"], ["why", "-A"], ["why", "pod/chat-0"], ["describe", "chat"], ["get", "sets"], ["operator", "run", "--once"]]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_our_definitions_every_command_says_how_to_install_them(words: list[str], tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.cluster.seed({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "chat-0", "namespace": "default"}})
    ended = bench.run(*words)
    assert (ended.code, ended.out) == (2, "")
    assert "the server has no kind 'PodCliqueSet'; Grove's CRDs are not installed: grove crds | kubectl apply --server-side" in ended.err
