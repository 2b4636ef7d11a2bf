"""Lists of objects that are written one after the other, and have most objects in common."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.source.yaml_writer import LastTexts, write_yaml

PARTS = st.sampled_from([{"a": 1}, {"b": [True, "x\ny"]}, {}, {"c": {"d": None}}])


@given(st.lists(PARTS, min_size=1, max_size=6), st.lists(st.lists(st.integers(0, 5), unique=True, max_size=6), max_size=4))
def test_the_text_is_that_of_writing_anew(parts: list[Any], runs: list[list[int]]) -> None:
    objects = [{"kind": "A", "n": number, "shared": part} for number, part in enumerate(parts)]
    texts = LastTexts()
    for run in runs:
        chosen = [objects[number] for number in run if number < len(objects)]
        assert texts.write(chosen) == write_yaml(chosen)


def test_objects_of_one_identity_are_not_mixed_up_when_one_has_gone() -> None:
    texts = LastTexts()
    for number in range(100):
        assert texts.write([{"a": number}]) == f"a: {number}\n"


def test_what_was_written_is_not_looked_at_again() -> None:
    class Counted(dict[str, Any]):
        looks = 0

        def items(self) -> Any:
            Counted.looks += 1
            return super().items()

    texts, value = LastTexts(), Counted(a=1)
    first = texts.write([value])
    looks = Counted.looks
    assert texts.write([value]) == first
    assert Counted.looks == looks
    texts.write([])
    texts.write([value])
    assert Counted.looks > looks


def test_an_object_that_stands_twice_is_written_twice() -> None:
    value = {"a": 1}
    assert LastTexts().write([value, value]) == write_yaml([value, value])
