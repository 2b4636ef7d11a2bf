"""Names of everything that is made for a set (shipped semantics §2.1): pure functions of names and indices."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Container

SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 5
SUFFIX_COUNT = len(SUFFIX_ALPHABET) ** SUFFIX_LENGTH


def replica(set_name: str, index: int) -> str:
    """A replica of a set: also the name of its headless Service and of its base PodGang."""
    return f"{set_name}-{index}"


def service_address(replica_name: str, namespace: str) -> str:
    """Where the pods of a replica find one another."""
    return f"{replica_name}.{namespace}.svc.cluster.local"


def clique(replica_name: str, clique_name: str) -> str:
    """A PodClique that is in no scaling group."""
    return f"{replica_name}-{clique_name}"


def scaling_group(replica_name: str, group_name: str) -> str:
    """A PodCliqueScalingGroup."""
    return f"{replica_name}-{group_name}"


def scaling_group_replica(scaling_group_name: str, index: int) -> str:
    """A replica of a PodCliqueScalingGroup: the first part of its PodCliques' names."""
    return f"{scaling_group_name}-{index}"


def scaled_gang(scaling_group_name: str, index: int, min_available: int) -> str:
    """The PodGang of a scaling group's replica beyond the first `min_available`, counted from 0 (shipped semantics §14.2)."""
    return f"{scaling_group_name}-{index - min_available}"


def service_account(set_name: str) -> str:
    """The ServiceAccount whose token start-up init containers use."""
    return set_name


def role(set_name: str) -> str:
    """The Role and the RoleBinding of that ServiceAccount."""
    return f"grove.io:pcs:{set_name}"


def token_secret(set_name: str) -> str:
    """The Secret that holds its token."""
    return f"{set_name}-ic-sat"


def hostname(clique_name: str, index: int) -> str:
    """A pod's hostname, which survives its replacement."""
    return f"{clique_name}-{index}"


def pod(clique_name: str, index: int, taken: Container[str]) -> str:
    """A pod's name: always the same for a clique, an index and the names that are taken.

    The suffix has the length and the alphabet of Kubernetes' generated names. It does not depend on the clique's UID, so that the
    name that was planned before the clique existed is still the name afterwards.
    """
    attempt = 0
    while True:
        name = f"{clique_name}-{_suffix(crc32(f'{clique_name}/{index}/{attempt}'.encode()))}"
        if name not in taken:
            return name
        attempt += 1


def _suffix(number: int) -> str:
    number, a = divmod(number, 27)
    number, b = divmod(number, 27)
    number, c = divmod(number, 27)
    number, d = divmod(number, 27)
    letters = SUFFIX_ALPHABET
    return letters[a] + letters[b] + letters[c] + letters[d] + letters[number % 27]
