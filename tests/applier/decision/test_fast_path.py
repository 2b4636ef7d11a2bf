"""The short way says the same as the long way, or leaves it to it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from applier.decision.fast_path import is_surely_unchanged
from applier.decision.managers import apply_identity, managers_of
from applier.decision.persisted_form import differences
from applier.decision.server_side_apply import simulate
from applier.ref import Manifest
from tests.suite.rows import rows

from .building import applied, owned
from .manifests import KINDS, Some
from .oracle import _mutate
from .schemas import type_of
from .typical import MANAGER, manifests, stored


@rows("number", range(len(manifests())), ids=[manifest["kind"] for manifest in manifests()])
def test_usual_objects_take_the_short_way(number: int) -> None:
    manifest, live = manifests()[number], stored()[number]
    manifest.pop("stringData", None)
    if "data" in live and manifest["kind"] == "Secret":
        manifest["data"] = live["data"]
    assert is_surely_unchanged(manifest, live, type_of(manifest["apiVersion"], manifest["kind"]), owned(live, MANAGER))


@given(st.sampled_from(sorted(KINDS)), st.randoms(use_true_random=False), st.integers(0, 2))
def test_what_the_short_way_calls_the_same_is_the_same(kind: str, random: Any, mutations: int) -> None:
    manifest = KINDS[kind](Some(random), "a")
    live = applied(manifest, applied(KINDS[kind](Some(random), "a"), by="them"), force=True)
    for _ in range(mutations):
        _mutate(random, manifest, KINDS[kind](Some(random), "a"))
    schema = type_of(manifest["apiVersion"], manifest["kind"])
    if is_surely_unchanged(manifest, live, schema, owned(live) or {}):
        assert _is_same_the_long_way(manifest, live)


def _is_same_the_long_way(manifest: Manifest, live: Manifest) -> bool:
    schema, managers = type_of(manifest["apiVersion"], manifest["kind"]), managers_of(live)
    result = simulate(live, manifest, schema, managers, manager="us", version=manifest["apiVersion"])
    ours = apply_identity("us")
    same_fields = result.managers.get(ours) == managers.get(ours)
    return same_fields and not result.conflicts and not differences(live, result.object, schema)
