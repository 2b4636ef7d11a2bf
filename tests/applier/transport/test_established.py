"""Waiting for new kinds: what is asked, and what is said when they do not come."""

from __future__ import annotations

from typing import Any

import pytest

from applier.errors import UnknownKind
from applier.transport import ApiCluster

from .scripted import Answer, Scripted, raised, status
from .test_discovery import CORE, WIDGET, WIDGETS, aggregated, group, row

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EXTENSIONS = group("apiextensions.k8s.io", v1=[row("customresourcedefinitions", "CustomResourceDefinition", scope="Cluster")])
BEFORE, AFTER = aggregated(EXTENSIONS), aggregated(EXTENSIONS, WIDGETS)


def definition(*, version: str = "v1", conditions: list[dict[str, str]] | None = None) -> dict[str, Any]:
    spec = {"group": WIDGET.group, "names": {"kind": "Widget", "plural": "widgets"}, "versions": [{"name": version, "served": True}]}
    return {"metadata": {"name": "widgets.example.com", "resourceVersion": "2"}, "spec": spec, "status": {"conditions": conditions or []}}


ESTABLISHED = [{"type": "Established", "status": "True"}]


def listed(*definitions: dict[str, Any]) -> Answer:
    return Answer(200, {"metadata": {"resourceVersion": "1"}, "items": definitions})


def serves(server: Scripted, *discovered: Answer) -> None:
    server.on("GET", "/api", CORE)
    server.on("GET", "/apis", *discovered)


async def test_a_kind_that_is_served_is_not_waited_for(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, AFTER)
    await cluster.await_established([WIDGET])
    assert not server.asked(path=DEFINITIONS)


async def test_a_kind_is_asked_for_until_it_is_served(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, BEFORE, BEFORE, BEFORE, BEFORE, AFTER)
    await cluster.await_established([WIDGET])
    assert len(server.asked(path="/apis")) == 5
    assert (await cluster.resource(WIDGET)).plural == "widgets"


TAKEN = [
    {"type": "NamesAccepted", "status": "False", "message": '"widgets" is already in use'},
    {"type": "Established", "status": "False", "message": "not all names are accepted"},
]
NEVER: dict[str, tuple[Answer, str]] = {
    "no definition": (listed(), "there is no CustomResourceDefinition for it"),
    "another version": (listed(definition(version="v2", conditions=ESTABLISHED)), "its definition serves only v2"),
    "a name that is taken": (listed(definition(conditions=TAKEN)), 'its definition is not established: "widgets" is already in use'),
    "not looked at": (listed(definition()), "its definition is not established: the server has not looked at it yet"),
    "not in discovery": (listed(definition(conditions=ESTABLISHED)), "not served yet"),
    "no right to look": (status(403, "Forbidden", "no"), "the server does not serve it, and we have no permission to read definitions"),
}


@pytest.mark.parametrize("case", NEVER.values(), ids=NEVER)
async def test_a_kind_that_does_not_come_is_said_with_the_reason(case: tuple[Answer, str], server: Scripted, cluster: ApiCluster) -> None:
    answer, says = case
    serves(server, BEFORE)
    server.on("GET", DEFINITIONS, answer)
    error = await raised(lambda: cluster.await_established([WIDGET], timeout=0.2))
    assert isinstance(error, UnknownKind)
    assert str(error) == f"Widget of example.com/v1 cannot be used: {says}"
