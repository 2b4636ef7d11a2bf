"""What objects wait for, one file a case: a set in some state, who is asked about, and the tree that people see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from applier.ref import Ref
from grove_cli.queries.tree_query import find
from grove_cli.terminal import Terminal
from grove_cli.why.as_text import why_text
from grove_compiler.model.inputs.settings import Settings
from grove_operator.cluster.why import Reason, reasons
from grove_operator.controller.live_objects import COMPUTE_DOMAIN
from grove_operator.controller.waiting import RecordedCache, waits_in
from tests.status.test_cases import the_set
from tests.status.world import NOW, live_objects_of, merged
from tests.step.world import context
from tests.suite.rows import rows

CASES = sorted(Path(__file__).parent.joinpath("cases").glob("*.yaml"))
PIPE = Terminal(colours=False, width=160, wraps=False)
Manifest = dict[str, Any]


def objects_of(case: Manifest) -> list[Manifest]:
    """What exists. `change` merges fields into objects, pods being called by their hostnames; null takes one away; `also` adds others."""
    changes: dict[str, Any] = case.get("change", {})
    made = []
    for one in live_objects_of(the_set(case["set"]), case.get("pods", {}), case.get("statuses", {}), shared(case)):
        change = changes.get(f"{one['kind']} {called(one)}", {})
        if change is not None:
            made.append(merged(one, change))
    return [*made, *case.get("also", [])]


def shared(case: Manifest) -> Any:
    from grove_compiler.source.document import Document

    config = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **case.get("config", {})}
    versions = {"kube_version": case["kube"]} if "kube" in case else {}
    return context(Settings(pods=True, is_operator=True, **versions), Document(config))


def called(manifest: Manifest) -> str:
    """What a case calls an object: pods have names that nobody can guess."""
    return str(manifest["spec"]["hostname"] if manifest["kind"] == "Pod" else manifest["metadata"]["name"])


def told(case: Manifest) -> tuple[Ref, list[Reason], list[Manifest]]:
    objects = objects_of(case)
    kind, _, name = case["ask"].partition("/")
    real = next((one["metadata"]["name"] for one in objects if (one["kind"], called(one)) == (kind, name)), name)
    asked, set = find(f"{kind}/{real}", "", objects)
    unserved = [COMPUTE_DOMAIN] if case.get("withoutDriver") else []
    return Ref.of(asked), reasons(Ref.of(asked), waits_in(RecordedCache(objects, unserved), set, shared(case), NOW, asked)), objects


def read(path: Path) -> Manifest:
    case: Manifest = yaml.load(path.read_text(), yaml.CSafeLoader)
    return case


def tree_of(case: Manifest) -> str:
    """The tree as text, with pods called by their hostnames."""
    root, found, objects = told(case)
    text = why_text(root, found, NOW, PIPE)
    for pod in (one for one in objects if one["kind"] == "Pod"):
        text = text.replace(pod["metadata"]["name"], called(pod))
    return text


@rows("path", CASES, ids=lambda path: path.stem)
def test_people_are_told(path: Path) -> None:
    case = read(path)
    assert tree_of(case) == case["tells"]


def rules_in(found: list[Reason]) -> Iterator[str]:
    for one in found:
        yield one.wait.rule
        yield from rules_in(one.below)
