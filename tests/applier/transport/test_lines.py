"""Lines of a stream, whatever its chunks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from applier.transport.reads import LineSplitter


@given(
    st.lists(st.binary(min_size=1, max_size=8).map(lambda b: b.replace(b"\n", b"x")), max_size=12),
    st.lists(st.integers(0, 40), max_size=12),
)
def test_lines_come_out_as_they_went_in(lines: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    cutter = LineSplitter()
    given_back = [line for start, end in pairwise(places) for line in cutter.feed(stream[start:end])]
    assert given_back == lines


def test_a_line_without_an_end_waits_for_it() -> None:
    cutter = LineSplitter()
    assert cutter.feed(b'{"a": ') == []
    assert cutter.feed(b"1}\n{") == [b'{"a": 1}']


def test_empty_lines_are_no_lines() -> None:
    assert LineSplitter().feed(b"\n\na\n\n") == [b"a"]
