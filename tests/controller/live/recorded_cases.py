"""The cases that the shipped operator ran on such a control plane: what was done in each step, and what there was after it.

`run.py` and `run_more.py`, which come with the records, carry the steps out with kubectl. They are used as they are, so that our
operator meets what the shipped one met.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import pytest

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from tests.conformance.cases import FOLDER

LIVE = FOLDER / "live"
SCRIPTS = ("run", "run_more")
WAIT = 2.0
"""Seconds that a step waits at most, of 7 of the 15 that its pods may not be ready: the rest is for a machine that is busy."""
GROVE_KINDS = ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "PodGang")


class RecordedStep(NamedTuple):
    """`intervention` does to a namespace what was done, and what it begins `ends`; `objects` are what there was at rest."""

    name: str
    intervention: Callable[[str], None]
    ends: Callable[[], None]
    objects: list[Manifest]


class Binder:
    """Puts pods on nodes in the place of a scheduler, from when a step asks for it until the step is over."""

    def __init__(self, once: Callable[[str], None]) -> None:
        self._once, self._over, self._threads = once, Event(), list[Thread]()

    def begin(self, namespace: str) -> None:
        self._over.clear()
        self._threads.append(Thread(target=self._bind, args=[namespace]))
        self._threads[-1].start()

    def end(self) -> None:
        """Returns when it does nothing any more."""
        self._over.set()
        while self._threads:
            self._threads.pop().join()

    def _bind(self, namespace: str) -> None:
        while not self._over.is_set():
            self._once(namespace)


def names() -> list[str]:
    """All cases; none where the folder is not there."""
    return sorted(path.name.removesuffix(".json.gz") for path in LIVE.glob("*.json.gz"))


def namespace_of(case: str) -> str:
    """The namespace of a case, which stands in environment variables of its pods."""
    return f"live-{case}"


def steps(case: str, plane: ControlPlane) -> list[RecordedStep]:
    """The steps of a case, to be done on a control plane."""
    recorded = json.loads(gzip.decompress((LIVE / f"{case}.json.gz").read_bytes()))
    script = next(one for one in map(_module, SCRIPTS) if case in one.scenarios())
    if hasattr(script, "get"):
        script.get = lambda what, namespace: plane.objects.get(what, "-n", namespace)["items"]  # as kubectl does, which costs much more
    script.KUBECTL[:] = [plane.programs.path("kubectl"), f"--kubeconfig={plane.kubeconfig}"]
    binder = Binder(script.bind(0.5)) if hasattr(script, "bind") else None
    with pytest.MonkeyPatch.context() as patch:
        if binder is not None:
            patch.setattr(script, "bind", lambda _: binder.begin)
            patch.setattr(script, "wait", lambda seconds, wait=script.wait: wait(min(seconds, WAIT)))
        interventions = script.scenarios()[case]
    assert [one["step"] for one in recorded] == [name for name, *_ in interventions]
    ends = binder.end if binder is not None else lambda: None
    return [
        RecordedStep(f"{case}/{one['step']}", intervention, ends, one["objects"])
        for one, (_, intervention, *_) in zip(recorded, interventions, strict=True)
    ]


@cache
def _module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(LIVE, f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _called_alike(objects: list[Manifest]) -> list[Manifest]:
    """Claims that Kubernetes makes for pods bear random names: here that of the pod's place and of the claim in its template."""
    places = {one["metadata"]["name"]: one["spec"].get("hostname", "") for one in objects if one["kind"] == "Pod"}
    return [_named_by_place(one, places) if one["kind"] == "ResourceClaim" else one for one in objects]


def _named_by_place(claim: Manifest, places: dict[str, str]) -> Manifest:
    metadata = claim["metadata"]
    [owner] = metadata["ownerReferences"]
    if owner["kind"] != "Pod":
        return claim
    place = places.get(owner["name"], owner["name"])
    name = f"{place}-{metadata['annotations']['resource.kubernetes.io/pod-claim-name']}"
    return {**claim, "metadata": {**metadata, "name": name, "ownerReferences": [{**owner, "name": place}]}}


def differences(ours: list[Manifest], theirs: list[Manifest]) -> Iterator[str]:
    """Where what there is differs from what was recorded; what cannot be equal aside, such as names of pods and times."""
    compare = _module("compare")
    yield from compare.differences(_view(_called_alike(ours)), _view(_called_alike(theirs)))


def _view(objects: list[Manifest]) -> dict[Any, Any]:
    """What `compare.py` looks at, and all fields of the statuses of Grove's kinds."""
    compare = _module("compare")
    seen: dict[Any, Any] = compare.view(objects)
    for one in objects:
        if one["kind"] in GROVE_KINDS and compare.key_of(one) in seen:
            seen[compare.key_of(one)]["status"] |= dict(_told(one.get("status") or {}))
    return seen


def _told(status: Manifest) -> Iterator[tuple[str, Any]]:
    """The fields of a status that do not depend on when something happened, nor on how often the set was edited."""
    for field, value in status.items():
        if isinstance(value, dict):
            yield field, dict(_told(value))
        elif field != "conditions" and not field.endswith(("At", "observedGeneration")):
            yield field, value
