"""What is remembered by content: the values that were asked for last, and no others."""

from __future__ import annotations

from grove_compiler.kube.content_memory import ContentMemory, digest_of


def test_a_memory_keeps_what_was_asked_for_last() -> None:
    memory: ContentMemory[int] = ContentMemory(2)
    memory.remember(b"a", 1)
    memory.remember(b"b", 2)
    assert memory.recall(b"a") == 1
    memory.remember(b"c", 3)
    assert [memory.recall(digest) for digest in (b"a", b"b", b"c")] == [1, None, 3]


def test_contents_are_told_apart() -> None:
    assert len({digest_of(content) for content in (b"", b"a", b"b", b"ab")}) == 4
