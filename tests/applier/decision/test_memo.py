"""Decisions are remembered as long as they hold."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from applier.decision import Decider, Verdict
from applier.ref import Manifest, Ref

from .building import applied, config
from .schemas import type_of

MANIFEST = config({"a": "1"})
REF = Ref.of(MANIFEST)


def _live(version: str = "1", uid: str = "u") -> Manifest:
    live = applied(MANIFEST)
    return {**live, "metadata": {**live["metadata"], "resourceVersion": version, "uid": uid}}


def _ask(decider: Decider, manifest: Manifest = MANIFEST, live: Manifest | None = None, **how: Any) -> Any:
    return decider.decide(REF, manifest, live, type_of("v1", "ConfigMap"), **how)


def test_the_same_question_has_the_same_answer() -> None:
    decider = Decider("us")
    assert _ask(decider, live=_live()) is _ask(decider, live=_live())


@pytest.mark.parametrize(
    "changed",
    [
        {"live": _live(version="2")},
        {"live": _live(uid="v")},
        {"live": _live(), "manifest": copy.deepcopy(MANIFEST)},
        {"live": _live(), "force": ("*",)},
        {"live": _live(), "yields": ("/data/a",)},
    ],
)
def test_another_question_is_decided_anew(changed: Any) -> None:
    decider = Decider("us")
    assert _ask(decider, live=_live()) is not _ask(decider, **changed)


def test_what_is_gone_is_created() -> None:
    decider = Decider("us")
    _ask(decider, live=_live())
    assert _ask(decider, live=None).verdict is Verdict.CREATE


def test_what_is_forgotten_is_decided_anew() -> None:
    decider = Decider("us")
    first = _ask(decider, live=_live())
    decider.forget(REF)
    assert _ask(decider, live=_live()) is not first


def test_objects_on_paper_are_not_remembered() -> None:
    decider = Decider("us")
    assert _ask(decider, live=applied(MANIFEST)) is not _ask(decider, live=applied(MANIFEST))
