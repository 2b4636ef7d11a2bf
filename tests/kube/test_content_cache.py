"""What is cached by content: the values that were asked for last, and no others."""

from __future__ import annotations

from grove_compiler.kube.content_cache import ContentCache


def test_a_memory_keeps_what_was_asked_for_last() -> None:
    cache: ContentCache[int] = ContentCache(2)
    cache.put(b"a", 1)
    cache.put(b"b", 2)
    assert cache.get(b"a") == 1
    cache.put(b"c", 3)
    assert [cache.get(digest) for digest in (b"a", b"b", b"c")] == [1, None, 3]
