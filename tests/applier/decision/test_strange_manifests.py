"""Whatever people write, a decision is made and nothing is raised."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.decision import Verdict, hide_secrets, prepared
from applier.ref import Manifest

from .building import applied, config, decided
from .manifests import KINDS, Some

_VALUES: list[Any] = [None, True, 0, 1.5, "", "x", [], {}, [None], ["a"], [{}], [[1]], {"": None}, {"a": {"b": []}}, [{"name": ["x"]}]]
_ODD = st.sampled_from(_VALUES)


def _places(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [before, *(place for key, child in inner for place in _places(child, (*before, key)))]


@given(st.sampled_from(sorted(KINDS)), st.randoms(use_true_random=False), _ODD, st.booleans())
def test_one_odd_value_anywhere_raises_nothing(kind: str, random: Any, odd: Any, ours: bool) -> None:
    manifest = KINDS[kind](Some(random), "a")
    live = applied(copy.deepcopy(manifest), by="us" if ours else "them")
    places = [place for place in _places(manifest) if place and place[0] not in ("apiVersion", "kind", "metadata")]
    *parents, last = random.choice(places) if places else ["data"]
    target: Any = manifest
    for key in parents:
        target = target[key]
    target[last] = odd
    assert decided(manifest, live).verdict in set(Verdict)


@pytest.mark.parametrize(
    "metadata", [{}, {"name": "a", "labels": None}, {"name": "a", "annotations": None}, {"name": "a", "labels": ["x"]}]
)
def test_odd_metadata_raises_nothing(metadata: Any) -> None:
    manifest: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}}
    assert decided(manifest, applied(config({"a": "1"}))).verdict in (Verdict.SAME, Verdict.CHANGE, Verdict.UNKNOWN)


@pytest.mark.parametrize("data", [None, [], "x", {"a": None}, {"a": 1}])
def test_odd_secrets_raise_nothing(data: Any) -> None:
    secret: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": data, "stringData": data}
    assert decided(hide_secrets(secret), applied(config())).verdict in set(Verdict)
    assert prepared(secret)["kind"] == "Secret"
