"""Our decisions against a real server's dry runs, on every spelling of nothing at every path of every kind."""

from __future__ import annotations

import json

import pytest

from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane

from .nothings import COUNT, every_kind, pairs_of_nothing
from .oracle import US, Pair, Server, Tally, judge

SEEDS = 2 * COUNT
INTENTS = 6
SHARES = 4  # tests that share the seeds, to be run beside each other


@pytest.mark.cluster
@pytest.mark.parametrize("share", range(SHARES))
def test_nothing_is_decided_as_the_server_does(control_plane: ControlPlane, namespace: str, share: int) -> None:
    """`python -m tests.benchmarks.applier_decisions --of nothing` tries 20,000 pairs, from the same seeds on."""
    server, tally = Server(control_plane), Tally()
    server.schemas()  # so that the custom kind is served
    for seed in range(share, SEEDS, SHARES):
        for pair in pairs_of_nothing(server, namespace, seed, INTENTS):
            judge(server, pair, server, tally)
    assert tally.right["same"] > 30 and tally.right["change"] > 30  # of 192
    assert not tally.wrong, "\n\n".join(tally.wrong[:3])
    assert tally.left_to_server() < 0.04  # of 20,000 it is half of that


@pytest.mark.cluster
def test_what_is_stored_as_nothing_and_refused_all_the_same_is_not_called_unchanged(control_plane: ControlPlane, namespace: str) -> None:
    """The root of a custom kind's schema may not have empty maps and lists of some fields: a server compares it with Go's zero values."""
    server, tally = Server(control_plane), Tally()
    definition = next(one for one in every_kind(namespace) if one["kind"] == "CustomResourceDefinition")
    path = server.path_of(definition, namespace)
    assert server.apply(path, definition, US).status == 201
    try:
        live = server.ask("GET", path).body
        root = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        fields = server.get(Kind.of(definition)).fields["spec"][1].fields["versions"][1].item
        schema = fields.fields["schema"][1].fields["openAPIV3Schema"][1]
        types = {name: type for name, (_, type) in schema.fields.items() if (type.is_map or type.is_list) and name not in root}
        for name, type in types.items():
            root[name] = {} if type.is_map else []
            judge(server, Pair(live, definition, path, force=False), server, tally)
            del root[name]
    finally:
        server.ask("DELETE", path)
    assert len(types) > 10
    assert not tally.wrong, "\n\n".join(tally.wrong[:3])


def _service(seconds: object) -> Manifest:
    config = {"clientIP": {"timeoutSeconds": seconds}}
    spec = {"ports": [{"port": 80}], "sessionAffinity": "ClientIP", "sessionAffinityConfig": config}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}


def _secret(value: object) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"a": value}}


def _event(first: object) -> Manifest:
    about = {"involvedObject": {"namespace": "${NAME}"}, "reason": "A", "firstTimestamp": first}
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "a"}, **about}


def _class(name: str, **more: object) -> Manifest:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, **more}


def _node(config_map: object) -> Manifest:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "${NAME}"}, "spec": {"configSource": {"configMap": config_map}}}


def _unused_affinity(client: object) -> Manifest:
    spec = {"ports": [{"port": 80}], "sessionAffinityConfig": {"clientIP": client}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}


FOUND = {
    "a default inside of what is sent": ("us", _service(None), _service(None)),
    "null over another's empty value in a Secret": ("them", _secret(""), _secret(None)),
    "an empty text for a time, which no server reads": ("us", _event(None), _event("")),
    "a zero that nobody set and nobody owns": ("us", _class("${NAME}"), _class("${NAME}", value=None)),
    "a map in a Node's field that no server keeps any more": ("us", _node(None), _node({})),
    "a value in it that was asked for before": ("us", _node({"name": ""}), _node({"name": ""})),
    "null in place of it": ("us", _node({}), _node(None)),
    "a map that is not kept without what it is about": ("us", _unused_affinity({}), _unused_affinity({})),
}
"""Pairs that random ones from other seeds came upon: who wrote the first, and what we want."""


@pytest.mark.cluster
@pytest.mark.parametrize(("manager", "first", "intent"), FOUND.values(), ids=FOUND)
def test_what_was_decided_otherwise_once(
    control_plane: ControlPlane, namespace: str, manager: str, first: Manifest, intent: Manifest
) -> None:
    server, tally = Server(control_plane), Tally()
    first, intent = (json.loads(json.dumps(one).replace("${NAME}", namespace)) for one in (first, intent))
    path = server.path_of(first, namespace)
    assert server.apply(path, first, manager).status == 201
    try:
        for force in (False, True):
            judge(server, Pair(server.ask("GET", path).body, intent, path, force), server, tally)
    finally:
        server.ask("DELETE", path)
    assert not tally.wrong, "\n\n".join(tally.wrong)
