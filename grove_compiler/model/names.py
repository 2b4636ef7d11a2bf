"""Computes the names of everything that is made for a set (shipped semantics §2.1), as pure functions of names and indices."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable, Collection

SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
FIRST = 20
"""Names of an index in an attempt by which its pods are known: as often may others have had one before."""


def part_of(owner: str, part: str | int) -> str:
    """Returns the name of a part of `owner`, by the part's own name or index.

    It is used for a replica of a set (also its headless Service and its base PodGang), a PodClique and a scaling group of that replica, a
    replica of a scaling group, a PodClique of that, and a pod's hostname, which survives the pod's replacement.
    """
    return f"{owner}-{part}"


def replica_of(name: str, set_name: str) -> int | None:
    """Returns the index of the set's replica in the name of one of its parts; None where the name contains none.

    `chat-12-router` and `chat-12` belong to replica 12 of `chat`.
    """
    text = name[len(set_name) + 1 :].partition("-")[0] if name.startswith(f"{set_name}-") else ""
    return int(text) if text.isascii() and text.isdecimal() else None


def pod(clique_name: str, index: int, is_taken: Callable[[str], bool], attempt: int = 1, announced: Collection[str] = frozenset()) -> str:
    """Returns a pod's name: a pure function of the clique, the index, the names that are taken, and the attempt of a training workload.

    Of its names that are not taken it has the one that was `announced`, if there is one: so it stays the same for whoever knows less of
    those that were taken.

    The suffix has the length and the alphabet of Kubernetes' generated names. It does not depend on the clique's UID, so that a name that
    was planned before the clique existed stays the same. Pods of two attempts have different names, so that a delete or an event by name
    cannot hit the wrong one.
    """
    rank, tried = _rank(clique_name, index, attempt), 0
    if announced:
        first = (_name_of_pod(clique_name, rank, number) for number in range(FIRST))
        if name := next((name for name in first if name in announced and not is_taken(name)), ""):
            return name
    while is_taken(name := _name_of_pod(clique_name, rank, tried)):
        tried += 1
    return name


def is_of_attempt(name: str, clique_name: str, index: int, attempt: int) -> bool:
    """Reports whether a name is one of the first that `pod` gives, whichever were taken."""
    rank = _rank(clique_name, index, attempt)
    return any(name == _name_of_pod(clique_name, rank, tried) for tried in range(FIRST))


def _name_of_pod(clique_name: str, rank: str, tried: int) -> str:
    return f"{clique_name}-{_suffix(crc32(f'{rank}/{tried}'.encode()))}"


def _rank(clique_name: str, index: int, attempt: int) -> str:
    return f"{clique_name}/{index}" if attempt == 1 else f"{clique_name}/{index}@{attempt}"


def _suffix(number: int) -> str:
    # Unrolled, since every pod of a set needs one: 1.1 µs a name, where a loop over the five letters takes 4.0.
    number, a = divmod(number, 27)
    number, b = divmod(number, 27)
    number, c = divmod(number, 27)
    number, d = divmod(number, 27)
    letters = SUFFIX_ALPHABET
    return letters[a] + letters[b] + letters[c] + letters[d] + letters[number % 27]
