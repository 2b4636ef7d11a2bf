"""What the rules ask about, the operator watches: else it would know nothing, and stand still."""

from __future__ import annotations

from pathlib import Path

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.reader import read_bytes
from grove_compiler.step import step
from grove_operator.controller.live_objects import WATCHED
from tests.step.world import NOW, Manifest, context, key_of, stored
from tests.suite.rows import rows

EXAMPLES = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.yaml"))
KNOWN = {(one.kind.group, one.kind.kind) for one in WATCHED} | {("apiextensions.k8s.io", "CustomResourceDefinition")}
"""Definitions are answered from what the server serves (`LiveObjects.get`)."""


class Asked(ObjectList):
    """Answers from a list, and keeps the kinds that it was asked for."""

    def __init__(self, objects: list[Manifest]) -> None:
        super().__init__(objects)
        self.kinds: set[tuple[str, str]] = set()

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        self.kinds.add((group, kind))
        return super().get(group, kind, namespace, name)

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        self.kinds.add((group, kind))
        return super().by_owner(group, kind, owner)

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        self.kinds.add((group, kind))
        return super().by_label(group, kind, key, value, namespace)


@rows("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_kind_that_a_step_asks_for_is_watched(path: Path) -> None:
    documents, _ = read_bytes(path.read_bytes(), path.name)
    manifests = [one.value for one in documents if one.value.get("kind") not in (None, "OperatorConfiguration", "List")]
    config = next((one for one in documents if one.value.get("kind") == "OperatorConfiguration"), None)
    objects = stored(manifests)
    view, shared = Asked(objects), context(config=config)
    for one in objects:
        if one["kind"] == "PodCliqueSet":
            for replica in (None, 0):
                step(view, key_of(one, replica), NOW, shared)
    assert view.kinds <= KNOWN
