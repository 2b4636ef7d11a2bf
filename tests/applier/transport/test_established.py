"""Waiting for new kinds: what is asked, and what is said when they do not come."""

from __future__ import annotations

from typing import Any

import pytest

from applier.errors import UnknownKind
from applier.transport import ApiCluster

from .scripted import RESET, Answer, Scripted, lines, raised, status
from .test_discovery import CORE, WIDGET, WIDGETS, aggregated, group, row

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EXTENSIONS = group("apiextensions.k8s.io", v1=[row("customresourcedefinitions", "CustomResourceDefinition", scope="Cluster")])
BEFORE, AFTER = aggregated(EXTENSIONS), aggregated(EXTENSIONS, WIDGETS)


def definition(*, version: str = "v1", conditions: list[dict[str, str]] | None = None) -> dict[str, Any]:
    spec = {"group": WIDGET.group, "names": {"kind": "Widget", "plural": "widgets"}, "versions": [{"name": version, "served": True}]}
    return {"metadata": {"name": "widgets.example.com", "resourceVersion": "2"}, "spec": spec, "status": {"conditions": conditions or []}}


ESTABLISHED = [{"type": "Established", "status": "True"}]


def seen(*definitions: dict[str, Any], type: str = "MODIFIED") -> Answer:
    """A watch that sees these, and then nothing more for a long time."""
    return Answer(200, lines(*({"type": type, "object": one} for one in definitions)), hangs=True)


def listed(*definitions: dict[str, Any]) -> Answer:
    """What there is before a watch."""
    return Answer(200, {"metadata": {"resourceVersion": "1"}, "items": definitions})


def serves(server: Scripted, *discovered: Answer) -> None:
    server.on("GET", "/api", CORE)
    server.on("GET", "/apis", *discovered)


async def test_a_kind_that_is_served_is_not_waited_for(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, AFTER)
    await cluster.await_established([WIDGET])
    assert not server.asked(path=DEFINITIONS)


async def test_a_definition_is_watched_until_it_is_established(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, BEFORE, BEFORE, AFTER)
    server.on("GET", DEFINITIONS, listed(), seen(definition(), definition(conditions=ESTABLISHED)))
    await cluster.await_established([WIDGET])
    assert (await cluster.resource(WIDGET)).plural == "widgets"


async def test_discovery_may_come_after_the_definition(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, BEFORE, BEFORE, BEFORE, BEFORE, AFTER)
    server.on("GET", DEFINITIONS, listed(), seen(definition(conditions=ESTABLISHED)))
    await cluster.await_established([WIDGET])
    assert len(server.asked(path="/apis")) == 5


async def test_a_definition_that_is_established_already_is_not_watched(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, BEFORE, BEFORE, AFTER)
    server.on("GET", DEFINITIONS, listed(definition(conditions=ESTABLISHED)))
    await cluster.await_established([WIDGET])
    assert len(server.asked(path=DEFINITIONS)) == 1


async def test_a_watch_that_breaks_is_opened_again(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, BEFORE, BEFORE, AFTER)
    broken = Answer(200, lines({"type": "ADDED", "object": definition()}), broken=True)
    server.on("GET", DEFINITIONS, listed(), broken, RESET, seen(definition(conditions=ESTABLISHED)))
    await cluster.await_established([WIDGET])


async def test_whoever_may_not_read_definitions_looks_at_discovery_alone(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, BEFORE, BEFORE, BEFORE, AFTER)
    server.on("GET", DEFINITIONS, status(403, "Forbidden", "no"))
    await cluster.await_established([WIDGET])


TAKEN = [
    {"type": "NamesAccepted", "status": "False", "message": '"widgets" is already in use'},
    {"type": "Established", "status": "False", "message": "not all names are accepted"},
]
NEVER: dict[str, tuple[tuple[Answer, ...], str]] = {
    "no definition": ((listed(), seen()), "there is no CustomResourceDefinition for it"),
    "one that is gone again": ((listed(definition()), seen(definition(), type="DELETED")), "there is no CustomResourceDefinition for it"),
    "another version": ((listed(definition(version="v2", conditions=ESTABLISHED)), seen()), "its definition serves only v2"),
    "a name that is taken": (
        (listed(), seen(definition(conditions=TAKEN))),
        'its definition is not established: "widgets" is already in use',
    ),
    "not looked at": ((listed(), seen(definition())), "its definition is not established: the server has not looked at it yet"),
    "no right to look": ((status(403, "Forbidden", "no"),), "the server does not serve it, and we may not read definitions"),
}


@pytest.mark.parametrize("case", NEVER.values(), ids=NEVER)
async def test_a_kind_that_does_not_come_is_said_with_the_reason(
    case: tuple[tuple[Answer, ...], str], server: Scripted, cluster: ApiCluster
) -> None:
    answers, says = case
    serves(server, BEFORE)
    server.on("GET", DEFINITIONS, *answers)
    error = await raised(lambda: cluster.await_established([WIDGET], timeout=0.2))
    assert isinstance(error, UnknownKind)
    assert str(error) == f"Widget of example.com/v1 cannot be used: {says}"
