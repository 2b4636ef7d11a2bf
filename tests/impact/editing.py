"""Cases as data: the base set, edits of it by field path, and what is expected of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from grove_compiler.compile import Inputs
from grove_compiler.graph.field_path import ABSENT, parse, replace
from grove_compiler.impact.fate import Operator
from grove_compiler.impact.impact import Impact, impact
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.yaml_writer import write_yaml
from tests.features.compiling import documents_of, shipped_program

FOLDER = Path(__file__).parent
CASES = sorted(FOLDER.joinpath("cases").glob("*.yaml"))


def base(*edits: dict[str, Any]) -> dict[str, Any]:
    """The base set after edits, each a `path` and a `value`, or no value to take the field away."""
    found: dict[str, Any] = yaml.load(FOLDER.joinpath("base.yaml").read_text(), yaml.CSafeLoader)
    for edit in edits:
        found = replace(found, parse(edit["path"]), edit.get("value", ABSENT))
    return found


def inputs(*manifests: Any, file: str = "new.yaml", snapshot: Any = ()) -> Inputs:
    return Inputs(documents_of(write_yaml(manifests), file), snapshot=list(snapshot), settings=Settings())


def effect(old: dict[str, Any], new: dict[str, Any], snapshot: Any = (), operator: Operator = "grove") -> Impact:
    """What an edit of one set does."""
    given = inputs(old, file="old.yaml", snapshot=snapshot), inputs(new, snapshot=snapshot)
    return impact(*given, shipped_program(), operator=operator)


def counts(found: Impact) -> dict[str, dict[str, int]]:
    """Objects by what becomes of them and by kind."""
    result: dict[str, dict[str, int]] = {}
    for fate in (fate for one in found.sets for fate in one.fates):
        of_kinds = result.setdefault(fate.what, {})
        of_kinds[fate.kind] = of_kinds.get(fate.kind, 0) + 1
    return result


def amounts(found: Impact, what: str) -> dict[str, int]:
    """Pods or GPUs that come, restart and go; zeros left out."""
    (one,) = found.sets
    values = getattr(one.pods, what)
    return {word: count for word in ("made", "restarted", "deleted") if (count := values[word])}


def restarts(found: Impact) -> list[dict[str, Any]]:
    """The order of restarts: of each replica of the set the standalone cliques, and the scaling groups' replicas with theirs."""
    (one,) = found.sets
    return [
        {
            "replica": replica.index,
            **({"cliques": [clique.name for clique in replica.cliques]} if replica.cliques else {}),
            **{name: {index: [clique.name for clique in part] for index, part in parts.items()} for name, parts in replica.groups.items()},
        }
        for replica in one.pods.restarts
    ]


def read_case(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(path.read_text(), yaml.CSafeLoader)
    return found
