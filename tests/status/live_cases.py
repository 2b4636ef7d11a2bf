"""The cases of a cluster that the shipped operator ran: what there was after each step, with statuses."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import Key, StepContext, StepResult, step
from grove_operator.controller.statuses import status_writes
from tests.conformance.cases import CONFIGURATION, FOLDER, KUBE_VERSION
from tests.step.world import complete, context

Manifest = dict[str, Any]
NOW = 1_795_000_000.0  # some days after the last record


@dataclass(eq=False)
class LiveStep:
    """The objects of a namespace when all had come to rest after a step."""

    name: str
    objects: list[Manifest] = field(repr=False)

    def of_kind(self, kind: str) -> list[Manifest]:
        return [one for one in self.objects if one["kind"] == kind]


def read_live_steps() -> list[LiveStep]:
    """All steps after which there still was a set; none when the folder is not there."""
    steps = []
    for path in sorted((FOLDER / "live").glob("*.json.gz")):
        recorded = json.loads(gzip.decompress(path.read_bytes()))
        steps += [LiveStep(f"{path.name.removesuffix('.json.gz')}/{one['step']}", one["objects"]) for one in recorded]
    return [one for one in steps if one.of_kind("PodCliqueSet")]


@cache
def shared_context() -> StepContext:
    return context(Settings(pods=True, kube_version=KUBE_VERSION), Document(CONFIGURATION))


def steps_of(live: LiveStep) -> list[StepResult]:
    """What we would do for each key of the set."""
    view, (manifest,) = ObjectList(live.objects), live.of_kind("PodCliqueSet")
    whole = Key("PodCliqueSet", manifest["metadata"]["namespace"], manifest["metadata"]["name"])
    keys = [whole, *(whole._replace(replica=index) for index in range(manifest["spec"]["replicas"]))]
    return [complete(step(view, key, NOW, shared_context())) for key in keys]


def statuses(live: LiveStep, made: list[StepResult]) -> dict[str, Manifest]:
    """The statuses that the steps would write, by kind and name."""
    view = ObjectList(live.objects)
    written = [one for each in made for one in status_writes(each.statuses, each.conditions, view, NOW)]
    return {f"{one.of.kind.kind} {one.of.ref.name}": dict(one.status) for one in written}
