"""Many texts that are alike, in little room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grove_cli.render.packer import Packer

from .sample import unpack

LINES = st.builds(
    lambda indent, text, end: " " * indent + text + end, st.integers(0, 14), st.text(max_size=5), st.sampled_from(["\n", "", "\r\n"])
)


@given(st.lists(st.lists(LINES).map("".join), max_size=6))
def test_what_was_packed_unpacks_to_the_same_text(texts: list[str]) -> None:
    packer = Packer()
    numbers = [packer.pack(text) for text in texts]
    assert [unpack(packer.parts, number) for number in numbers] == texts


@given(st.lists(LINES).map("".join))
def test_parts_stand_before_what_they_are_part_of(text: str) -> None:
    packer = Packer()
    packer.pack(text)
    for number, part in enumerate(packer.parts):
        assert isinstance(part, str) or all(inner < number for inner in part)


def test_equal_texts_are_kept_once() -> None:
    packer = Packer()
    assert packer.pack("a:\n  b: 1\n") == packer.pack("a:\n  b: 1\n")


def test_texts_that_differ_in_one_line_share_the_rest() -> None:
    packer = Packer()
    rest = "".join(f"  key-{number}: value\n" for number in range(100))
    for number in range(50):
        packer.pack(f"metadata:\n  name: demo-{number}\nspec:\n{rest}")
    texts = [part for part in packer.parts if isinstance(part, str)]
    assert len(texts) == 50 + 100 + 2
    assert len([part for part in packer.parts if not isinstance(part, str)]) == 50 + 50 + 1
