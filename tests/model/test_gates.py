"""When a pod's scheduling gate goes."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.model.expanded.pods import pods
from tests.suite.rows import rows

from .sets import Manifest, clique, existing, existing_pod, expand, find_clique, group, pcs

GATE = {"name": "grove.io/podgang-pending-creation"}
GATED = {"schedulingGates": [GATE]}
SET = pcs([clique("a")])
SCALING = pcs([clique("a")], [group("g", ["a"], replicas=2, min_available=1)])


def gang(name: str, *groups: tuple[str, list[str]], initialized: bool = True) -> Manifest:
    """A PodGang with a group for each clique: its name and the names of its pods."""
    podgroups = [
        {"name": clique, "minReplicas": 1, "podReferences": [{"namespace": "default", "name": pod} for pod in pods]}
        for clique, pods in groups
    ]
    condition = {"type": "Initialized", "status": "True" if initialized else "False"}
    return existing("PodGang", name, spec={"podgroups": podgroups}, status={"conditions": [condition]})


def is_gated(manifest: Manifest, name: str, snapshot: list[Manifest]) -> bool:
    pod = pods(find_clique(expand(manifest, snapshot), name))[0]
    assert pod.existing
    return pod.gated


CLIQUE = existing("PodClique", "demo-0-a", spec={"replicas": 1})
POD = existing_pod("demo-0-a", "b", 0, spec=GATED)
CASES: list[tuple[str, list[Manifest], bool]] = [
    ("no gang yet", [], True),
    ("the gang is whole though it does not say so yet", [gang("demo-0", ("demo-0-a", ["demo-0-a-b"]), initialized=False)], False),
    ("the gang does not name it", [gang("demo-0", ("demo-0-a", []))], True),
    ("the gang names another pod", [gang("demo-0", ("demo-0-a", ["demo-0-a-c"]))], True),
    ("another group of the gang names it", [gang("demo-0", ("demo-0-b", ["demo-0-a-b"]))], True),
    ("another gang names it", [gang("demo-1", ("demo-0-a", ["demo-0-a-b"]))], True),
    ("the gang names it", [gang("demo-0", ("demo-0-a", ["demo-0-a-b"]))], False),
]


@rows(("snapshot", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_pod_waits_until_its_gang_names_it(snapshot: list[Manifest], expected: bool) -> None:
    assert is_gated(SET, "demo-0-a", [CLIQUE, POD, *snapshot]) is expected


def test_no_pod_of_a_gang_goes_before_all_of_them_exist() -> None:
    """The shipped operator lets those go that the gang names already (shipped semantics §14.31)."""
    manifest = pcs([clique("a"), clique("b")])
    snapshot = [CLIQUE, POD, existing("PodClique", "demo-0-b", spec={"replicas": 1})]
    named = gang("demo-0", ("demo-0-a", ["demo-0-a-b"]), ("demo-0-b", []), initialized=False)
    assert is_gated(manifest, "demo-0-a", [*snapshot, named])
    assert not is_gated(manifest, "demo-0-a", [*snapshot, named, existing_pod("demo-0-b", "b", 0)])


@pytest.mark.parametrize("gates", [[], [{"name": "somebody.else/gate"}]])
def test_a_gate_that_went_does_not_come_back(gates: list[Any]) -> None:
    pod = existing_pod("demo-0-a", "b", 0, spec={"schedulingGates": gates})
    assert not is_gated(SET, "demo-0-a", [CLIQUE, pod])


MEMBERS = [
    existing("PodCliqueScalingGroup", "demo-0-g", spec={"replicas": 2}),
    existing("PodClique", "demo-0-g-1-a", spec={"replicas": 1}),
    existing_pod("demo-0-g-1-a", "b", 0, gang="demo-0-g-0", spec=GATED),
    gang("demo-0-g-0", ("demo-0-g-1-a", ["demo-0-g-1-a-b"])),
]
BASE = gang("demo-0", ("demo-0-g-0-a", ["demo-0-g-0-a-b"]))


def base_clique(scheduled: int | None, **parts: Any) -> Manifest:
    status = {} if scheduled is None else {"scheduledReplicas": scheduled}
    return existing("PodClique", "demo-0-g-0-a", spec={"replicas": 1}, status=status, **parts)


def base_pod(**spec: Any) -> Manifest:
    return existing_pod("demo-0-g-0-a", "b", 0, spec=spec)


SCALED: list[tuple[str, list[Manifest], bool]] = [
    ("no base gang", [base_clique(1)], True),
    ("the base gang's clique is missing", [BASE], True),
    ("the base gang's pods wait", [BASE, base_clique(0)], True),
    ("nobody counted the base gang's pods yet", [BASE, base_clique(None)], True),
    ("the base gang's clique is going", [BASE, base_clique(1, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})], True),
    ("the base gang's pods have nodes", [BASE, base_clique(1)], False),
    ("they do, and nobody has counted them yet", [BASE, base_clique(None), base_pod(nodeName="node")], False),
    ("they have none, and nobody has counted them yet", [BASE, base_clique(None), base_pod()], True),
    ("the pod that has a node has finished", [BASE, base_clique(None), {**base_pod(nodeName="node"), "status": {"phase": "Failed"}}], True),
]


@rows(("snapshot", "expected"), [case[1:] for case in SCALED], ids=[case[0] for case in SCALED])
def test_a_scaled_gangs_pod_waits_until_the_base_gang_has_its_nodes(snapshot: list[Manifest], expected: bool) -> None:
    assert is_gated(SCALING, "demo-0-g-1-a", [*MEMBERS, *snapshot]) is expected


def test_a_pod_of_the_base_gang_waits_for_no_other_gang() -> None:
    snapshot = [base_clique(0), existing_pod("demo-0-g-0-a", "b", 0, spec=GATED), BASE]
    assert not is_gated(SCALING, "demo-0-g-0-a", snapshot)
