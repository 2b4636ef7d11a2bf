"""What a snapshot says about how far objects are."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli.render.states import find_states
from grove_compiler.model.inputs.snapshot import ObjectList

from .sample import node, picture, workload


def live(kind: str, name: str, **parts: Any) -> dict[str, Any]:
    return node(kind, name, **parts).object


def states(*manifests: dict[str, Any]) -> dict[str, str]:
    return find_states(picture(workload(members=1)).vertices, ObjectList(manifests))


@pytest.mark.parametrize(
    ("manifest", "state"),
    [
        (live("PodGang", "demo-0", status={"phase": "Pending"}), "Pending"),
        (live("PodClique", "demo-0-router", spec={"replicas": 2}, status={"readyReplicas": 1}), "1 of 2 ready"),
        (live("Pod", "demo-0-router-00000", status={"phase": "Running"}), "Running"),
    ],
)
def test_what_exists_says_how_far_it_is(manifest: dict[str, Any], state: str) -> None:
    name = manifest["metadata"]["name"]
    assert states(manifest)[f"{manifest['kind']}/ml/{name}"] == state


def test_what_does_not_exist_is_missing_where_others_of_its_kind_exist() -> None:
    found = states(live("PodClique", "demo-0-router", status={"readyReplicas": 2}))
    assert found["PodClique/ml/demo-0-model-0-leader"] == "missing"
    assert "PodGang/ml/demo-0" not in found


@pytest.mark.parametrize("status", [None, {}, "odd", {"phase": ""}, {"phase": None}])
def test_an_object_without_a_state_says_nothing(status: Any) -> None:
    assert states(live("PodGang", "demo-0", status=status)) == {}


def test_without_a_snapshot_nothing_is_said() -> None:
    assert states() == {}
