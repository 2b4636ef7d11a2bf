"""Names of everything that is made for a set (shipped semantics §2.1): pure functions of names and indices."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable

SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def part_of(owner: str, part: str | int) -> str:
    """Names a part of what is called `owner`, by its own name or its index.

    So are called a replica of a set (also its headless Service and its base PodGang), a PodClique and a scaling group of that replica,
    a replica of a scaling group, a PodClique of that, and a pod's hostname, which survives the pod's replacement.
    """
    return f"{owner}-{part}"


def replica_of(name: str, set_name: str) -> int | None:
    """Returns the index of the replica of a set that a part of it is called after; none where the name tells of no replica.

    `chat-12-router` and `chat-12` belong to replica 12 of `chat`.
    """
    text = name[len(set_name) + 1 :].partition("-")[0] if name.startswith(f"{set_name}-") else ""
    return int(text) if text.isascii() and text.isdecimal() else None


def pod(clique_name: str, index: int, is_taken: Callable[[str], bool], attempt: int = 1) -> str:
    """A pod's name: always the same for a clique, an index, the names that are taken, and the attempt of a training workload.

    The suffix has the length and the alphabet of Kubernetes' generated names. It does not depend on the clique's UID, so that the
    name that was planned before the clique existed is still the name afterwards. Pods of two attempts have two names: whoever ends, or
    tells of, the one by its name alone does not hit the other.
    """
    rank = f"{clique_name}/{index}" if attempt == 1 else f"{clique_name}/{index}@{attempt}"
    tried = 0
    while is_taken(name := f"{clique_name}-{_suffix(crc32(f'{rank}/{tried}'.encode()))}"):
        tried += 1
    return name


def _suffix(number: int) -> str:
    # Written out, since every pod of a set asks for one: 1.1 µs a name, where a loop over the five letters takes 4.0.
    number, a = divmod(number, 27)
    number, b = divmod(number, 27)
    number, c = divmod(number, 27)
    number, d = divmod(number, 27)
    letters = SUFFIX_ALPHABET
    return letters[a] + letters[b] + letters[c] + letters[d] + letters[number % 27]
