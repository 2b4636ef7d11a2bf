"""What the tests of replay share: steps of a set with a view of our own, kept as bundles."""

from __future__ import annotations

from typing import Any

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.replay.bundle import Bundle, RecordedStep, decode, encode
from grove_compiler.replay.replay import Replayed, record_step, replay
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from tests.features.compiling import shipped_program
from tests.model.sets import clique, pcs
from tests.step.world import NOW, key_of, stored

SETTINGS = Settings(pods=True, is_operator=True)


def cluster(replicas: int = 2) -> list[dict[str, Any]]:
    """A set and all that it becomes, as a cluster stores it."""
    set = {**pcs([clique("worker", 2)], replicas=replicas)}
    set["metadata"] = {**set["metadata"], "uid": "uid-of-the-set"}
    made = compile_inputs(Inputs([Document(set)], [set], settings=SETTINGS), shipped_program())
    objects = stored([set, *(node.object for node in made.graph.nodes)])
    uids = {(one["kind"], one["metadata"]["name"]): one["metadata"]["uid"] for one in objects}
    for one in objects:
        for owner in one["metadata"].get("ownerReferences") or []:
            owner["uid"] = uids[owner["kind"], owner["name"]]
    return objects


def taken(
    replica: int | None = 0, objects: list[dict[str, Any]] | None = None, config: Document | None = None, program: Program | None = None
) -> RecordedStep:
    """A step of the set of a cluster, with all that it rests on."""
    objects = cluster() if objects is None else objects
    key = key_of(next((one for one in objects if one["kind"] == "PodCliqueSet"), cluster()[0]), replica)
    return record_step(ObjectList(objects), key, NOW, StepContext(program or shipped_program(), SETTINGS, config))[1]


def again(bundle: Bundle) -> Replayed:
    return replay(bundle, shipped_program())


def written(kept: RecordedStep) -> Bundle:
    """The bundle as somebody else reads it."""
    return decode(encode(kept))
