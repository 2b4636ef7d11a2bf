"""Whatever is edited in whatever set: with the former result at hand, the same comes out to the letter."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_compiler.compile import compile as compile_inputs
from grove_compiler.model.settings import Settings
from tests.features.compiling import shipped_program
from tests.features.random_sets import pod_cliques_sets

from .compiling import Manifest, assert_same, inputs_of, program_with, recompiled, to_the_letter, with_replicas

property_of_edits = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
REPLICAS = st.sampled_from([0, 1, 2, 3, 5, None])

NOSY = """
rule: own/last
doc: A rule that asks how many replicas there are, now and then.
generate: own.yaml
forEach: {replica: set.replicas}
when: replica.index > 1 and replica.index == set.replica_count - 1
---
rule: own/label
doc: A label that tells everybody of the number.
patch: Service
when: replica.index % 2 == 1
do:
  - {op: add, path: /metadata/labels/of, value: "{{ set.spec.replicas | string }}"}
"""
NOSY_TEMPLATE = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "last-{{ replica.index }}"}\n'


@property_of_edits
@given(pod_cliques_sets(), REPLICAS, REPLICAS, st.booleans())
def test_another_number_of_replicas(manifest: Manifest, before: int | None, after: int | None, pods: bool) -> None:
    chosen = Settings(pods=pods)
    old, new = (inputs_of(with_replicas(manifest, number), settings=chosen) for number in (before, after))
    assert_same(old, new)


@property_of_edits
@given(pod_cliques_sets(), REPLICAS, REPLICAS)
def test_another_number_of_replicas_under_rules_that_ask_for_it(manifest: Manifest, before: int | None, after: int | None) -> None:
    program = program_with(NOSY, NOSY_TEMPLATE)
    assert_same(inputs_of(with_replicas(manifest, before)), inputs_of(with_replicas(manifest, after)), program)


@property_of_edits
@given(pod_cliques_sets(), st.lists(st.sampled_from([0, 1, 2, 4]), min_size=3, max_size=5))
def test_one_number_after_the_other(manifest: Manifest, numbers: list[int]) -> None:
    program, former = shipped_program(), None
    for number in numbers:
        inputs = inputs_of(with_replicas(manifest, number))
        former = compile_inputs(inputs, program, former)
    assert former is not None
    assert to_the_letter(former) == to_the_letter(compile_inputs(inputs_of(with_replicas(manifest, numbers[-1])), program))


@st.composite
def edited(draw: st.DrawFn, value: Any) -> Any:
    """The value with one scalar somewhere in it replaced, one key or item removed, or the keys of one map turned round."""
    copied = copy.deepcopy(value)
    places = [place for place in _places(copied) if place[1] not in ("apiVersion", "kind")]
    holder, key = draw(st.sampled_from(places))
    current = holder[key]
    if isinstance(current, dict) and len(current) > 1 and draw(st.booleans()):
        holder[key] = dict(reversed(current.items()))
    elif draw(st.integers(0, 3)) == 0:
        del holder[key]
    elif isinstance(current, bool):
        holder[key] = draw(st.sampled_from([not current, int(current)]))
    elif isinstance(current, int):
        holder[key] = draw(st.sampled_from([current + 1, float(current), str(current)]))
    elif isinstance(current, str):
        holder[key] = draw(st.sampled_from([f"{current}x", "a", ""]))
    return copied


def _places(value: Any) -> list[tuple[Any, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, part in entries for place in [(value, key), *_places(part)]]


@property_of_edits
@given(st.data(), pod_cliques_sets(), REPLICAS)
def test_any_edit_beside_the_replicas(data: st.DataObject, manifest: Manifest, after: int | None) -> None:
    new = data.draw(edited(manifest))
    assert_same(inputs_of(manifest), inputs_of(with_replicas(new, after) if isinstance(new.get("spec"), dict) else new))


@property_of_edits
@given(st.data(), pod_cliques_sets(), st.sampled_from([1, 2, 3]), st.sampled_from([1, 2, 3]))
def test_an_edit_of_what_exists(data: st.DataObject, manifest: Manifest, before: int, after: int) -> None:
    """The snapshot holds what a former compilation made, with numbers that an autoscaler changed."""
    made = compile_inputs(inputs_of(with_replicas(manifest, 3), settings=Settings()), shipped_program())
    there = [json.loads(json.dumps(node.object)) for node in made.graph.nodes]
    for live in there:
        if "replicas" in live.get("spec", {}) and data.draw(st.booleans()):
            live["spec"]["replicas"] += 1
    changed = data.draw(st.sampled_from([there, there[:-1], []]))
    same = data.draw(st.booleans())
    full, again = recompiled(
        inputs_of(with_replicas(manifest, before), snapshot=there),
        inputs_of(with_replicas(manifest, after), snapshot=there if same else changed),
    )
    assert to_the_letter(again) == to_the_letter(full)
