"""Digests contents by which something is cached, without making other threads wait."""

from __future__ import annotations

try:  # hashlib loads OpenSSL for this, which takes as long as the rest of a small compilation
    from _blake2 import blake2b
except ImportError:  # another Python than CPython
    from hashlib import blake2b

PORTION = 2_047
"""Bytes up to which the interpreter keeps its lock (hashlib, HASHLIB_GIL_MINSIZE).

A thread that releases and takes it again every few microseconds, for the digest of each of thousands of templates, keeps it from all
others: they ask for it once they have waited for 5 ms, and each release begins that wait anew.
"""


def digest_of(content: bytes) -> bytes:
    """Returns the 16-byte digest of a content; collisions are infeasible."""
    digest = blake2b(digest_size=16)
    for begin in range(0, len(content), PORTION):
        digest.update(content[begin : begin + PORTION])
    return digest.digest()
