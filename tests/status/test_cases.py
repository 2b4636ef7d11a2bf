"""Statuses, conditions and events of small sets, one file a case: pods in some states, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.model.sets import clique, group, pcs
from tests.suite.rows import rows

from .world import keys_of, live_objects_of, merged, shared_context, told

CASES = sorted(Path(__file__).parent.joinpath("cases").glob("*.yaml"))


def the_set(given: dict[str, Any]) -> dict[str, Any]:
    """A set called `demo`, of cliques and groups as `tests.model.sets` takes them."""
    cliques = [clique(**one) for one in given.get("cliques", [])]
    made = pcs(cliques, [group(**one) for one in given.get("groups", [])], given.get("replicas", 1), **given.get("template", {}))
    return merged(made, {"spec": given.get("spec", {}), "status": given.get("status", {})})


def within(expected: Any, found: Any) -> Any:
    """What was found, as far as something is expected of it: a map has only the keys that are asked for."""
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return found
    return {key: within(value, found.get(key)) for key, value in expected.items()}


def pod_in(objects: list[dict[str, Any]], clique: str, index: int) -> str:
    """The name of a pod, which a case calls by its state."""
    return next(str(one["metadata"]["name"]) for one in objects if (one.get("spec") or {}).get("hostname") == f"{clique}-{index}")


@rows("path", CASES, ids=lambda path: path.stem)
def test_of(path: Path) -> None:
    case = yaml.load(path.read_text(), yaml.CSafeLoader)
    shared = shared_context()
    manifest = the_set(case["set"])
    objects = live_objects_of(manifest, case.get("pods", {}), case.get("statuses", {}), shared)
    found = told(objects, keys_of(manifest), shared)
    names = {state: pod_in(objects, clique, states.index(state)) for clique, states in case.get("pods", {}).items() for state in states}
    expected = {"events": [], **case["gives"]}
    expected["events"] = [text.format(**names) for text in expected["events"]]
    assert within(expected, found) == expected
